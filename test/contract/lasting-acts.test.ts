import { expect, test } from 'vitest';
import { readContract } from '../support/contract/contract.ts';

const undone = 'can be undone or done again';
const routine = 'records what a person decides, which is the daily work of programs and people';
const ends = 'takes rights away, which must work at once in an emergency';
const reads = 'only reads';
const proven = 'requires a credential of its own in the request';
const draft = 'concerns drafts, which no person has seen; another operation puts them in force';
const peers = 'signed by a peer with its pinned key; people have no access';

/** Operations with effects that require no recent sign-in, each with its reason. */
const without: Record<string, string> = {
  createTransaction: routine,
  createSingleStepTransaction: routine,
  submitAnswers: routine,
  confirmAnswers: routine,
  resendCode: undone,
  sendInvitation: undone,
  cancelTransaction: undone,
  createChild: routine,
  startPublicForm: routine,
  createShortLink: routine,
  withdrawConsents: 'withdrawing is as easy as consenting (GDPR, article 7(3))',
  openChoices: routine,
  sendChoicesLink: 'only the reader of the mails gets the link',
  openChoicesLink: proven,
  changeChoices: routine,
  endChoices: ends,
  withdrawChoices: 'withdrawing is as easy as consenting (GDPR, article 7(3))',
  recordErasureRequest: 'is only a request; decideErasure carries it out',
  requestErasure: 'is only a request; decideErasure carries it out',
  createCampaign: draft,
  updateCampaign: draft,
  setCampaignStatus: 'pauses and cancels, which must work at once; what it starts is sent at a bounded pace',
  unsubscribePerson: ends,
  resubscribePerson: undone,
  createSubject: undone,
  updateSubject: undone,
  holdSubject: 'keeps data; endHold requires the sign-in',
  revokeKey: ends,
  revokeToken: ends,
  changePassword: proven,
  requestToken: proven,
  requestTokenByDiscovery: proven,
  requestTokenOfRealm: proven,
  acknowledgeDelivery: proven,
  acceptPairing: proven,
  createModel: draft,
  importModel: draft,
  useTemplate: draft,
  updateModel: undone,
  uploadLogo: undone,
  uploadInstanceLogo: 'shows nothing until updateSettings names it',
  uploadDocument: 'is deleted after an hour unless answers name it',
  createVersion: draft,
  updateVersion: draft,
  deleteVersion: draft,
  resumeWebhook: undone,
  testWebhook: undone,
  repeatDelivery: undone,
  endPairing: peers,
  announceChange: peers,
  addCheckpoint: 'signed by a log with a key that its peer states',
  acceptSubmission: peers,
  decideSubmission: peers,
  withdrawSubmission: peers,
  eraseSubmission: peers,
  importRecords: 'lasts longer than ten minutes, a request after the other',
  verifyReceipt: reads,
  previewForm: reads,
  previewVersion: reads,
  planModels: reads,
  searchTransactions: reads,
  extractRecords: reads,
  decideQuestions: reads,
  evaluateAccess: reads,
  evaluateAccesses: reads,
};

const operations = Object.values(readContract().paths ?? {}).flatMap((item) =>
  (['post', 'put', 'patch', 'delete'] as const).flatMap((method) => {
    const operation = item?.[method] as { operationId?: string; 'x-fresh'?: number } | undefined;
    return operation ? [operation] : [];
  }),
);

test('what cannot be undone or replaces trust requires a recent sign-in; all other operations have a reason', () => {
  const open = operations.filter((operation) => operation['x-fresh'] === undefined);
  expect(open.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(without).sort());
});

test.each([
  'eraseSubject',
  'decideErasure',
  'endHold',
  'updatePeer',
  'createPeer',
  'deletePeer',
  'setVersionStatus',
  'setVersionType',
  'applyModel',
  'deleteModel',
  'createKey',
  'createAccount',
  'updateAccount',
  'deleteAccount',
  'removeSecondFactor',
  'createAccountLink',
  'createWebhook',
  'updateWebhook',
  'renewWebhookSecret',
  'deleteWebhook',
  'updateSettings',
  'setAccessMappings',
  'changeEmail',
])('%s requires a sign-in within the last ten minutes', (id) => {
  expect(operations.find(({ operationId }) => operationId === id)?.['x-fresh']).toBe(600);
});
