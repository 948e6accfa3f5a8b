import type { Document } from 'openapi-backend';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRequestValidator } from '#lib/http/contract-document.ts';
import { readContract } from '../support/contract/contract.ts';

type Query = Record<string, string | string[] | undefined>;

let check: (operationId: string, body: unknown, query?: Query) => void;

beforeAll(async () => {
  const { operations, validate } = await createRequestValidator(readContract() as unknown as Document);
  check = (operationId, body, query = {}) => {
    const operation = operations.find((each) => each.operationId === operationId);
    if (!operation) throw new Error(`unknown operation ${operationId}`);
    const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
    validate(operation, {
      params: Object.fromEntries(names.map((name) => [name, name === 'sid' ? '2'.repeat(22) : 'x'])),
      query,
      body,
    });
  };
});

const layoutData = { type: 'layout', elements: ['processing.001'], info: 'information.001' };
const minimal = { subject: 'jane', layoutData };

describe('the contract accepts values that the service itself checks (docs/interface.md)', () => {
  test.each([
    ['neither layout nor layoutData', { subject: 'jane' }],
    ['both of them', { ...minimal, layout: 'layout.001' }],
    ['a layout without a type or elements', { subject: 'jane', layoutData: {} }],
    ['an empty subject', { ...minimal, subject: '' }],
    ['a confirmation that does not exist', { ...minimal, confirmation: 'SIGNATURE' }],
    ['an invalid duration', { ...minimal, validity: 'soon' }],
    ['a negative delay', { ...minimal, callbackTriggerDelay: -1 }],
    ['a callback that is not a URL', { ...minimal, callback: 'javascript:alert(1)' }],
  ])('a context with %s', (_, body) => {
    expect(() => check('createTransaction', body)).not.toThrow();
  });

  test('an unknown type of model, scope of a key, status of a version', () => {
    expect(() => check('createModel', { type: 'poem', name: 'x' })).not.toThrow();
    expect(() => check('createKey', { name: 'x', scope: 'ROOT' })).not.toThrow();
    expect(() => check('setVersionStatus', { status: 'GONE' })).not.toThrow();
    expect(() => check('createVersion', { defaultLanguage: 'en', data: { en: {} } })).not.toThrow();
  });
});

describe('the contract accepts requests of older and newer clients', () => {
  test.each([
    [
      'configuration fields at the top level',
      { ...minimal, language: 'fr', updatable: false, callbackTriggerDelay: 0 },
    ],
    [
      'configuration fields inside configuration',
      { ...minimal, configuration: { language: 'fr', cancellable: true } },
    ],
    ['unknown members', { ...minimal, formType: 'FULL', configuration: { optoutModel: 1 } }],
    [
      'empty strings for absent members of any type',
      {
        ...minimal,
        layout: '',
        object: '',
        callbackTriggerDelay: '',
        updatable: '',
        attributes: '',
        configuration: '',
        subjectInfos: { emailAddress: '' },
      },
    ],
    ['userinfos', { ...minimal, userinfos: { emailAddress: 'jane@example.org' } }],
    [
      'blocs',
      { subject: 'jane', layoutData: { blocs: [{ parent: { key: 'processing.001' } }], hiddenBlocs: [] } },
    ],
  ])('with %s', (_, body) => {
    expect(() => check('createTransaction', body)).not.toThrow();
  });

  test('answers with and without info, comments as a text or an array', () => {
    const answers = { 'element/processing/processing.001/1.0': ['accepted'] };
    for (const more of [
      {},
      { info: ['element/information/i/1.0'] },
      { comment: 'hello' },
      { comment: ['hello'] },
    ])
      expect(() => check('submitAnswers', { ...answers, ...more })).not.toThrow();
    expect(() => check('submitAnswers', { 'element/preference/preference.002/1.0': [] })).not.toThrow();
    expect(() => check('submitAnswers', {})).not.toThrow();
  });

  test('a preview without a subject, a search without a filter, a cancel without a body', () => {
    expect(() => check('previewForm', { layoutData })).not.toThrow();
    expect(() => check('searchTransactions', undefined)).not.toThrow();
    expect(() => check('cancelTransaction', undefined)).not.toThrow();
    expect(() => check('cancelTransaction', { info: ['x'] })).not.toThrow();
  });
});

describe('bounds of the contract', () => {
  const submission = {
    leader: { location: 'https://leader.example.org', id: 'x' },
    subject: 'jane',
    language: 'en',
    validity: 'P6M',
    mode: 'commit',
    sealed: 'x',
  };

  test('are left to the service in requests of clients, which get a 422', () => {
    expect(() => check('createTransaction', { ...minimal, subject: 'x'.repeat(5_000) })).not.toThrow();
    expect(() =>
      check('createWebhook', { targetUrl: 'x'.repeat(5_000), subscribedActions: [] }),
    ).not.toThrow();
    expect(() => check('createModel', { type: 'processing', name: 'x', key: '/' })).not.toThrow();
  });

  test('are checked in requests of peers', () => {
    expect(() => check('acceptSubmission', submission)).not.toThrow();
    for (const part of [{ subject: '' }, { subject: 'x'.repeat(1_025) }, { language: 'x' }, { mode: 'keep' }])
      expect(() => check('acceptSubmission', { ...submission, ...part })).toThrow(Object.keys(part)[0]);
  });
});

describe('the contract rejects a wrong type or a missing member, with its pointer', () => {
  test.each([
    ['createTransaction', { layoutData }, '/subject'],
    ['createTransaction', { ...minimal, subject: 5 }, '/subject'],
    ['createTransaction', { ...minimal, subject: null }, '/subject'],
    ['createTransaction', { subject: 'jane', layoutData: { elements: 'processing.001' } }, '/layoutData'],
    ['createTransaction', { ...minimal, updatable: 'yes' }, '/updatable'],
    ['createTransaction', { ...minimal, language: 5 }, '/language'],
    ['createTransaction', { ...minimal, attributes: { a: 1 } }, '/attributes'],
    ['createTransaction', { ...minimal, configuration: { callbackTriggerDelay: 1.5 } }, '/configuration'],
    ['createTransaction', [], ''],
    ['createSingleStepTransaction', { context: minimal }, '/values'],
    ['submitAnswers', { 'element/processing/p/1.0': 5 }, '/element~1processing~1p~11.0'],
    ['submitAnswers', { 'element/processing/p/1.0': [true] }, '/element~1processing~1p~11.0/0'],
    ['submitAnswers', { info: { key: 'i' } }, '/info'],
    ['createKey', { name: 'x' }, '/scope'],
    ['createVersion', { defaultLanguage: 'en', data: { en: 'text' } }, '/data/en'],
    ['extractRecords', { condition: { key: 'processing.001' } }, '/condition/value'],
  ])('%s %j', (operationId, body, pointer) => {
    let errors: { pointer: string }[] | undefined;
    try {
      check(operationId, body);
    } catch (error) {
      expect(error).toMatchObject({ code: 'malformed' });
      errors = (error as { errors: { pointer: string }[] }).errors;
    }
    expect(errors?.map((fault) => fault.pointer).filter((each) => each.startsWith(pointer))).not.toEqual([]);
    expect(errors).toBeDefined();
  });

  test('in query parameters', () => {
    expect(() => check('listKeys', undefined, { limit: '200' })).not.toThrow();
    for (const limit of ['0', '201', 'many', '1.5', ''])
      expect(() => check('listKeys', undefined, { limit })).toThrow('limit');
    expect(() => check('listRecords', undefined)).toThrow('subject');
    expect(() => check('listRecords', undefined, { subject: 'jane', states: ['COMMITTED'] })).not.toThrow();
  });
});
