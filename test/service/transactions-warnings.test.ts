import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { unknownFields } from '../../services/transactions/request/context-warnings.ts';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';

type Transaction = components['schemas']['Transaction'];

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

const created = async (context: object, path = '/consents', body: object = context) => {
  const response = await shop.send('POST', path, body);
  expect(response.status, await response.clone().text()).toBeLessThan(300);
  return (await response.json()) as Transaction;
};
const namesOf = ({ warnings = [] }: Transaction) => warnings.map(({ pointer }) => pointer);

describe('a context with fields that are not known', () => {
  it('creates the transaction and warns about them', async () => {
    const made = await created({
      subject: 'warned',
      layoutData: { elements: ['processing.001'], acceptAllVisibel: true },
      configuration: { langage: 'fr' },
      'a/b~c': 1,
    });
    expect(made.state).toBe('CREATED');
    expect(namesOf(made)).toEqual(['/a~1b~0c', '/configuration/langage', '/layoutData/acceptAllVisibel']);
    for (const warning of made.warnings ?? []) expect(warning.code).toBe('unknown-field');
    const read = (await (await shop.get(`/consents/${made.id}`)).json()) as Transaction;
    expect(read).not.toHaveProperty('warnings');
  });

  it('gets the warnings again for the same transaction, and in a single step', async () => {
    const context = { subject: 'warned again', layout: 'layout.001', colour: 'blue' };
    expect((await created(context)).id).toBe((await created(context)).id);
    expect(namesOf(await created(context))).toEqual(['/colour']);
    const single = {
      context: { subject: 'in one step', layoutData: { elements: ['processing.001'] }, colour: 'blue' },
      values: { 'element/processing/processing.001/1.0': 'accepted' },
    };
    expect(namesOf(await created({}, '/consents/singlestep', single))).toEqual(['/context/colour']);
  });

  it('gets a warning about the context for a name that is too long to be shown', async () => {
    const made = await created({ subject: 'long', layout: 'layout.001', ['n'.repeat(600)]: 1 });
    expect(namesOf(made)).toEqual(['']);
  });

  it('gets a limited number of warnings with names of limited length', async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${n} ${'x'.repeat(100)}\n`, n]));
    const made = await created({ subject: 'many', layout: 'layout.001', ...many });
    expect(made.warnings).toHaveLength(20);
    expect(JSON.stringify(made.warnings).length).toBeLessThan(5_000);
  });
});

describe('a context as existing clients send it', () => {
  it('gives no warnings', async () => {
    const made = await created({
      subject: 'existing client',
      object: '',
      origin: 'WEBFORM',
      author: '',
      language: 'en',
      validity: 'P6M',
      callback: '',
      iframeOrigin: '',
      userinfos: { emailAddress: 'e@example.org' },
      attributes: {},
      updatable: true,
      silent: false,
      confirmation: 'NONE',
      confirmationConfig: {},
      sendInvitation: false,
      theme: '',
      notification: '',
      notificationRecipient: '',
      transaction: '',
      leadingTransaction: null,
      peerContexts: [],
      layoutData: {
        type: 'layout',
        info: 'information.001',
        orientation: 'VERTICAL',
        theme: '',
        notification: '',
        blocs: [{ parent: { key: 'processing.001' }, children: [{ key: 'preference.001' }] }],
        existingElementsVisible: true,
        validityVisible: true,
        acceptAllVisible: false,
        acceptAllText: '',
        submitText: '',
        cancelVisible: false,
        cancelText: '',
        footerOnTop: false,
        includeIFrameResizer: true,
      },
    });
    expect(made).not.toHaveProperty('warnings');
  });

  it('may have every field of the contract', () => {
    const { schemas } = parse(
      readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'),
    ).components;
    const fieldsOf = (name: string): Record<string, unknown> =>
      Object.fromEntries(Object.keys(schemas[name].properties).map((field) => [field, 1]));
    const configuration = fieldsOf('ContextConfiguration');
    const context = schemas.PreviewContext.allOf[1].properties as Record<string, unknown>;
    expect(
      unknownFields({ ...context, ...configuration, configuration, layoutData: fieldsOf('LayoutData') }),
    ).toEqual([]);
  });
});
