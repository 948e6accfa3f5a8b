import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { subscribableActions } from '#lib/contracts/webhook-actions.ts';
import { readAsyncApi } from '#lib/events/event-contract.ts';
import { readContract } from '../support/contract/contract.ts';
import { type ContractDocument, resolve } from '../support/contract/contract-paths.ts';
import { deliveryFault, eventSchemas } from '../support/contract/delivered-events.ts';

interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  required?: string[];
  items?: Schema;
  allOf?: Schema[];
  properties?: Record<string, Schema>;
}

const contract = readContract();
const schemas = contract.components.schemas as Record<string, Schema>;
const { components } = readAsyncApi(new URL('../../asyncapi.yaml', import.meta.url));
const names = eventSchemas(contract);
const typeOf = (action: string) => `io.accord.${action}.v1`;

/** What a schema says of types, members and values, without references. */
function shapeOf(document: ContractDocument, given: Schema): object {
  const { allOf, ...own } = resolve<Schema>(document, given).value;
  const schema = allOf?.[0] ? { ...own, ...resolve<Schema>(document, allOf[0]).value } : own;
  const members = Object.entries(schema.properties ?? {});
  return {
    type: schema.type,
    values: schema.enum,
    required: schema.required?.toSorted(),
    items: schema.items && shapeOf(document, schema.items),
    members: Object.fromEntries(members.map(([name, member]) => [name, shapeOf(document, member)])),
  };
}

describe('the callbacks of createWebhook', () => {
  test('are the events that webhooks deliver', () => {
    expect([...names.keys()].toSorted()).toEqual(
      [...subscribableActions, 'webhook.test'].map(typeOf).toSorted(),
    );
  });

  test.each(subscribableActions)('have the data of %s that asyncapi.yaml has', (action) => {
    const message = Object.values(components.messages).find(({ name }) => name === typeOf(action));
    const published: ContractDocument = { ...contract, components };
    const delivered = schemas[`${names.get(typeOf(action))}Data`] as Schema;
    expect(shapeOf(contract, delivered)).toEqual(shapeOf(published, message?.payload ?? {}));
  });

  test('have the names that docs/webhooks.md gives', () => {
    const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
    const rows = [...page.matchAll(/^\| (`[a-z.`, ]+`) \|.* \| `(\w+Event)` \|$/gm)];
    const said = rows.flatMap(([, actions = '', name]) =>
      [...actions.matchAll(/`([a-z.]+)`/g)].map(([, action]) => [typeOf(action ?? ''), name]),
    );
    expect(Object.fromEntries(said)).toEqual(
      Object.fromEntries([...names].filter(([type]) => type !== typeOf('webhook.test'))),
    );
  });
});

describe('a delivery that a test receives', () => {
  const headers = { 'content-type': 'application/cloudevents+json; charset=utf-8' };
  const examples = contract.components.examples as Record<string, { value: object }>;

  test.each([...new Set(names.values())])('may be the example of %s', (name) => {
    const { value } = examples[name] as { value: object };
    expect(deliveryFault(headers, value)).toBeUndefined();
    expect(deliveryFault(headers, { ...value, added: 'x' })).toContain('additional properties');
    expect(deliveryFault(headers, { ...value, data: { ...value, added: 'x' } })).toContain('/data');
  });

  test('has the media type of CloudEvents and a type that the contract has', () => {
    const { value } = examples.KeyEvent as { value: object };
    expect(deliveryFault({ 'content-type': 'application/json' }, value)).toContain('media type');
    expect(deliveryFault(headers, { ...value, type: typeOf('key.lost') })).toContain('no callback');
  });
});
