import { describe, expect, it } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';

const instance = useInstance();
const shop: Caller = useSetup(() => createKey(instance));

const create = async (context: object, caller = shop, headers = {}) => {
  const body = 'layoutData' in context ? context : { layout: 'layout.001', ...context };
  const answer = await caller.send('POST', '/consents', body, headers);
  const { id, token } = (await answer.json()) as { id: string; token: string };
  return { status: answer.status, id, token, location: answer.headers.get('location') };
};

describe('the same context again', () => {
  it('returns the same transaction with a new token', async () => {
    const first = await create({ subject: 'alice' });
    const second = await create({ subject: 'alice' });
    expect([first.status, second.status]).toEqual([201, 200]);
    expect(second.id).toBe(first.id);
    expect(second.token).not.toBe(first.token);
    expect(second.location).toBe(`${instance.url}/consents/${first.id}?t=${second.token}`);
  });

  it.each([
    ['with its members in another order', { layout: 'layout.001', subject: 'bea' }],
    ['with its settings inside the configuration', { configuration: { object: '' }, subject: 'bea' }],
    [
      'with its defaults written out',
      { subject: 'bea', validity: 'P6M', origin: 'WEBFORM', updatable: true },
    ],
    ['with blanks around its subject', { subject: ' bea ' }],
    ['with another author', { subject: 'bea', author: 'the desk' }],
    ['with fields that nobody knows', { subject: 'bea', colour: 'blue' }],
  ])('%s is the same', async (_how, context) => {
    const { id } = await create({ subject: 'bea' });
    expect(await create(context)).toMatchObject({ status: 200, id });
  });

  it("does not depend on the sender and the sender's language", async () => {
    const { id } = await create({ subject: 'carl' });
    const operator = await signIn(instance, 'operator');
    expect(await create({ subject: 'carl' }, operator, { 'Accept-Language': 'ar' })).toMatchObject({ id });
  });

  it('is equal with a saved layout sent inline', async () => {
    const layoutData = { elements: ['processing.001', 'processing.002'] };
    const { id } = await create({ subject: 'dan', layoutData });
    const spelled = { type: 'layout', orientation: 'VERTICAL', info: 'information.001', ...layoutData };
    expect(await create({ subject: 'dan', layoutData: spelled })).toMatchObject({ status: 200, id });
  });
});

describe('another context', () => {
  const layoutData = { elements: ['processing.001', 'processing.002'] };
  it.each([
    ['subject', { subject: 'EVE' }],
    ['object', { object: 'account 7' }],
    ['language', { language: 'fr' }],
    ['origin', { origin: 'OPERATOR' }],
    ['validity', { validity: 'P1Y' }],
    ['callback', { callback: 'https://shop.example/done' }],
    ['delay of the callback', { callbackTriggerDelay: 1_000 }],
    ['host page', { iframeOrigin: 'https://shop.example' }],
    ['attributes', { attributes: { campaign: 'spring' } }],
    ['contact data', { subjectInfos: { emailAddress: 'eve@example.org' } }],
    ['updatable', { updatable: false }],
    ['cancellable', { cancellable: true }],
    ['silent', { silent: true }],
    ['theme', { theme: 'theme.001' }],
    ['timeout', { timeout: 'P2D' }],
    ['order of elements', { layoutData: { elements: [...layoutData.elements].reverse() } }],
    ['orientation', { layoutData: { ...layoutData, orientation: 'HORIZONTAL' } }],
  ])('makes another transaction: %s', async (_what, difference) => {
    const context = { subject: 'eve', layoutData };
    const { id } = await create(context);
    const other = await create({ ...context, ...difference });
    expect(other.status).toBe(201);
    expect(other.id).not.toBe(id);
  });
});

describe('many equal creations at once', () => {
  it('create one transaction, which all return', async () => {
    const answers = await Promise.all(Array.from({ length: 500 }, () => create({ subject: 'fred' })));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(499);
    const stored = await rowsOf(instance, "SELECT id FROM transactions.transactions WHERE subject = 'fred'");
    expect(stored).toHaveLength(1);
  });
});
