import type { Document } from 'openapi-backend';
import { describe, expect, it } from 'vitest';
import { createRequestValidator } from '#lib/http/contract-document.ts';
import { readContract } from '../support/contract/contract.ts';
import { listOperations, resolve } from '../support/contract/contract-paths.ts';

const family = 'existing clients of several generations send further members (docs/interface.md)';
const representation = 'clients send back the representation that they have read';
const wire = 'releases of two instances differ; a later one may say more (docs/federation.md)';
const least = 'every member is required, or adds; what is left out does less';
const standard = 'the standard says that further parameters are ignored';

/** Requests whose unknown members are ignored, with the reason. All others refuse them. */
const tolerant: Record<string, string> = {
  createTransaction: family,
  createSingleStepTransaction: family,
  previewForm: family,
  submitAnswers: 'every member is an answer; an unknown one is refused as such',
  confirmAnswers: family,
  resendCode: least,
  sendInvitation: least,
  startPublicForm: least,
  unsubscribePerson: least,
  resubscribePerson: least,
  createShortLink: least,
  openChoicesLink: least,
  endChoices: least,
  cancelTransaction: least,
  createChild: 'answers that come too late for the parent are shown in its form',
  searchTransactions: 'they are listed in the warnings of the page',
  evaluateAccess: standard,
  evaluateAccesses: standard,
  createSubject: family,
  updateSubject: representation,
  changePassword: least,
  requestToken: standard,
  requestTokenByDiscovery: standard,
  requestTokenOfRealm: standard,
  revokeToken: standard,
  createModel: family,
  importModel: representation,
  updateModel: representation,
  createVersion: representation,
  updateVersion: representation,
  setVersionStatus: least,
  setVersionType: least,
  previewVersion: least,
  createPeer: family,
  updatePeer: representation,
  acceptPairing: wire,
  addCheckpoint: 'a text of another standard',
  acceptSubmission: wire,
  decideSubmission: wire,
  withdrawSubmission: wire,
  eraseSubmission: wire,
  updateWebhook: representation,
  updateSettings: representation,
  acknowledgeDelivery: 'receivers are programs of others; without its only required member nothing is stored',
};

const written = 'a context, as existing clients write it';
const told = 'says how somebody asked; what is left out is not said';

/** The same for what stands inside a request that refuses unknown members itself. */
const tolerantInside: Record<string, string> = {
  'createCampaign /context/layoutData': written,
  'updateCampaign /context/layoutData': written,
  'decideQuestions /capture': written,
  'setAccessMappings /mappings/0/capture': written,
  'withdrawChoices /collection': told,
  'withdrawConsents /collection': told,
};

interface Schema {
  $ref?: string;
  additionalProperties?: unknown;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  type?: string;
}

const contract = readContract();

/** Whether a body with a member that the schema does not know is valid. */
function ignoresUnknown(given: Schema): boolean {
  return resolve<Schema>(contract, given).value.additionalProperties !== false;
}

/** The places inside a body whose objects ignore unknown members; maps of any names are none. */
function ignoringInside(given: Schema, place = ''): string[] {
  const { value: schema } = resolve<Schema>(contract, given);
  const { allOf = [], anyOf = [], oneOf = [], items, properties = {} } = schema;
  return [
    ...(place && schema.properties && ignoresUnknown(schema) ? [place] : []),
    ...[...allOf, ...anyOf, ...oneOf].flatMap((part) => ignoringInside(part, place)),
    ...(items ? ignoringInside(items, `${place}/0`) : []),
    ...Object.entries(properties).flatMap(([name, inner]) => ignoringInside(inner, `${place}/${name}`)),
  ];
}

const isFile = (type: string) =>
  /^image\/|^multipart\/|^application\/(pdf|jose|x-ndjson)$|^text\/csv$/.test(type);

describe('members that a request does not know', () => {
  const bodies = listOperations(contract).flatMap(({ operation }) => {
    const { operationId, requestBody } = operation as typeof operation & { requestBody?: object };
    if (!requestBody) return [];
    const { content } = resolve<{ content: Record<string, { schema: Schema }> }>(contract, requestBody).value;
    // Where an operation takes JSON, its schema is also that of form posts.
    const types = 'application/json' in content ? ['application/json'] : Object.keys(content);
    const schemas = Object.entries(content).filter(([type]) => types.includes(type) && !isFile(type));
    return schemas.length > 0 ? [{ operationId, schemas: schemas.map(([, { schema }]) => schema) }] : [];
  });

  it('are refused, unless there is a reason to ignore them', () => {
    const ignoring = bodies.filter(({ schemas }) => schemas.some(ignoresUnknown));
    expect(ignoring.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(tolerant).sort());
  });

  it('are refused inside of what refuses them, unless there is a reason to ignore them', () => {
    const places = bodies
      .filter(({ schemas }) => !schemas.some(ignoresUnknown))
      .flatMap(({ operationId, schemas }) =>
        schemas.flatMap((schema) => ignoringInside(schema).map((place) => `${operationId} ${place}`)),
      );
    const outermost = places.filter((place) => !places.some((other) => place.startsWith(`${other}/`)));
    expect([...new Set(outermost)].sort()).toEqual(Object.keys(tolerantInside).sort());
  });

  it.each([
    ['createWebhook', { targetUrl: 'https://a.example', subscribedActions: ['consent.withdrawn'] }, ''],
    ['extractRecords', { conditions: [{ key: 'processing.001', value: 'accepted' }] }, ''],
    ['extractRecords', { conditions: [{ key: 'processing.001', value: 'accepted' }] }, '/conditions/0'],
    ['extractRecords', { condition: { key: 'processing.001', value: 'accepted' } }, '/condition'],
    ['withdrawConsents', { elements: ['processing.001'] }, ''],
  ])('are named by the refusal: %s %j at "%s"', async (operationId, body, place) => {
    const { operations, validate } = await createRequestValidator(contract as unknown as Document);
    const operation = operations.find((each) => each.operationId === operationId);
    if (!operation) throw new Error(`unknown operation ${operationId}`);
    const params: Record<string, string> = operationId === 'withdrawConsents' ? { txid: 'x' } : {};
    const check = (sent: unknown) => () => validate(operation, { params, query: {}, body: sent });
    expect(check(body)).not.toThrow();
    const misspelt = structuredClone(body);
    const names = place.split('/').slice(1);
    const inside = names.reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], misspelt);
    Object.assign(inside as object, { serail: '1.0' });
    let thrown: unknown;
    try {
      check(misspelt)();
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'malformed', errors: [{ pointer: `${place}/serail` }] });
  });

  it('are no fault in what existing clients send', async () => {
    const { operations, validate } = await createRequestValidator(contract as unknown as Document);
    const send = (operationId: string, body: unknown) => () =>
      validate(operations.find((each) => each.operationId === operationId) as never, {
        params: {},
        query: {},
        body,
      });
    const webhook = { name: 'shop', targetUrl: 'https://a.example', subscribedActions: ['CONSENT_COMMIT'] };
    for (const secret of ['whsec_eA==', null, ''])
      expect(send('createWebhook', { id: secret, ...webhook, secret })).not.toThrow();
    const condition = { key: 'processing.001', value: 'accepted', serial: '1.0', type: 'processing' };
    expect(
      send('extractRecords', {
        operator: 'AND',
        conditions: [{ ...condition, regexpValue: false }],
        page: 0,
        size: 10,
      }),
    ).not.toThrow();
  });
});
