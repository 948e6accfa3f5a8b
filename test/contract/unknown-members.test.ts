import { describe, expect, it } from 'vitest';
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
  searchTransactions: family,
  extractRecords: family,
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
  createWebhook: family,
  updateWebhook: representation,
  updateSettings: representation,
  acknowledgeDelivery: 'receivers are programs of others; without its only required member nothing is stored',
};

interface Schema {
  $ref?: string;
  additionalProperties?: unknown;
  allOf?: Schema[];
  type?: string;
}

const contract = readContract();

/** Whether a body with a member that the schema does not know is valid. */
function ignoresUnknown(given: Schema): boolean {
  return resolve<Schema>(contract, given).value.additionalProperties !== false;
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

  it.each([
    'withdrawConsents',
    'withdrawChoices',
    'requestErasure',
    'eraseSubject',
    'holdSubject',
    'decideErasure',
    'createCampaign',
    'updateCampaign',
    'decideQuestions',
    'setAccessMappings',
    'createKey',
    'createAccount',
    'updateAccount',
    'changeEmail',
  ])('are refused by %s, where leaving one out means more', (operationId) => {
    const found = bodies.find((body) => body.operationId === operationId);
    expect(found?.schemas.some(ignoresUnknown)).toBe(false);
  });
});
