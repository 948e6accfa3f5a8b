import { setTimeout } from 'node:timers/promises';
import { makeLiveModel } from '../../support/instances/live-models.ts';
import { sampleContent } from '../../support/samples/forms-models.ts';
import type { Relation } from './oracle.ts';
import { answers, type Resources, type Stage, subjectOf } from './resources.ts';

/** A valid request of an operation, as small as it gets. */
export interface Parts {
  /** Values of the path's parameters. */
  params?: Record<string, string>;
  query?: Record<string, string>;
  json?: unknown;
  /** A PNG. */
  image?: Buffer;
  jws?: string;
  /** Lines of JSON. */
  ndjson?: string;
}

/** What a request is aimed at. */
export interface Aim extends Omit<Resources, 'transaction'> {
  relation: Relation;
  /** @returns the id of a transaction in that relation. */
  transaction(stage: Stage): Promise<string>;
}

/** How requests of an operation are made. */
export interface Recipe {
  relations: readonly Relation[];
  emptyIfUnknown?: boolean;
  /** The status of a request that was let in and can do nothing; 409 if it is not given. */
  letIn?: 409 | 410 | 422;
  make(aim: Aim): Parts | Promise<Parts>;
}

const all = ['own', 'other', 'none'] as const;

/** Requests about nothing that could be somebody's. */
const plain = (parts: Parts = {}): Recipe => ({ relations: ['own'], make: () => parts });

/** Requests for things that are everybody's, and for one that is not there. */
const thing = (
  make: (aim: Aim) => Parts['params'] | Promise<Parts['params']>,
  unknown: Parts['params'],
  more: Parts = {},
): Recipe => ({
  relations: ['own', 'none'],
  make: async (aim) => ({ ...more, params: aim.relation === 'none' ? unknown : await make(aim) }),
});

const about = (stage: Stage, more: Parts = {}): Recipe => ({
  relations: all,
  make: async ({ transaction }) => ({ ...more, params: { txid: await transaction(stage) } }),
});

const ofSubject = (
  make: (name: string, aim: Aim) => Parts | Promise<Parts>,
  emptyIfUnknown = false,
): Recipe => ({
  relations: all,
  emptyIfUnknown,
  make: (aim) => make(subjectOf(aim.relation), aim),
});

const nobodysId = '00000000-0000-7000-8000-000000000000';
const context = { subject: 'somebody else', layout: 'layout.001' };
const content = { defaultLanguage: 'en', data: { en: sampleContent.theme } };

/** The code of a short link to a transaction of nobody in particular. */
async function shortCode({ admin, transaction }: Aim): Promise<string> {
  const made = admin.send('POST', `/consents/${await transaction('open')}/link`);
  return (await answer<{ url: string }>(made)).url.split('/').at(-1) ?? '';
}

const publicForms = new WeakMap<Aim['admin'], Promise<{ id: string; key: string }>>();

/** A form with an address of its own; made once, because each has another poster. */
function publicForm({ admin }: Aim): Promise<{ id: string; key: string }> {
  const made =
    publicForms.get(admin) ??
    makeLiveModel(admin, 'layout', {
      en: { type: 'layout', elements: ['processing.001'], public: { identify: 'ANONYMOUS' } },
    });
  publicForms.set(admin, made);
  return made;
}

/** The start of a PNG of one pixel, which is all that is looked at. */
const pixel = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
  Buffer.from('0000000100000001080600000000000000', 'hex'),
]);

async function answer<T>(response: Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

async function newModel({ admin }: Aim): Promise<{ id: string }> {
  return {
    id: (await answer<{ id: string }>(admin.send('POST', '/models', { type: 'theme', name: 'A model' }))).id,
  };
}

/** A step that creates a model, as a plan says it. */
async function newStep({ admin }: Aim): Promise<Parts> {
  const model = { key: `applied.${crypto.randomUUID()}`, type: 'theme', name: 'A model', ...content };
  const { steps } = await answer<{ steps: { digest: string }[] }>(
    admin.send('POST', '/models/plan', { models: [model] }),
  );
  return { json: { digest: steps[0]?.digest, model } };
}

/** A person of whom nothing else is asked. */
async function newSubject({ operator, admin }: Aim): Promise<{ name: string }> {
  const name = newName();
  await operator.send('POST', '/subjects', { name });
  // So that nothing is erased while others look at the tables.
  await admin.send('PUT', `/subjects/${encodeURIComponent(name)}/hold`, { reason: 'A legal claim' });
  return { name };
}

async function newErasure(aim: Aim): Promise<{ erasure: string }> {
  const { name } = await newSubject(aim);
  const path = `/subjects/${encodeURIComponent(name)}/erasure`;
  return { erasure: (await answer<{ id: string }>(aim.admin.send('POST', path))).id };
}

const campaign = {
  name: 'Asked again',
  select: { elements: ['processing.001'], who: ['CHANGED'] },
  context: { layout: 'layout.001' },
};

async function newCampaign({ operator }: Aim): Promise<{ campaign: string }> {
  const { id } = await answer<{ id: string }>(operator.send('POST', '/campaigns', campaign));
  return { campaign: id };
}

const ofCampaign = (more: Parts = {}) => thing(newCampaign, { campaign: '5sVdYk2pQxWm4tYv9LsRb2' }, more);

const ofErased = (more: Parts = {}) => thing(newSubject, { name: 'nobody at all' }, more);

async function newKey({ admin }: Aim): Promise<{ id: string }> {
  const { id } = await answer<{ id: string }>(
    admin.send('POST', '/keys', { name: 'short-lived', scope: 'OWNER' }),
  );
  return { id };
}

const newName = () => `person ${crypto.randomUUID()}`;

async function newAccount({ admin }: Aim): Promise<{ id: string }> {
  const account = { name: newName(), role: 'operator' };
  return { id: (await answer<{ id: string }>(admin.send('POST', '/accounts', account))).id };
}

const invitation = ({ partner }: Aim) => ({ url: partner.url, apiKey: 'whatever it is' });

async function newPeer(aim: Aim): Promise<{ id: string }> {
  return { id: (await answer<{ id: string }>(aim.admin.send('POST', '/peers', invitation(aim)))).id };
}

const endpoint = ({ partner }: Aim) => ({
  targetUrl: `${partner.url}/hook`,
  subscribedActions: ['key.created'],
});

async function newWebhook(aim: Aim): Promise<{ id: string }> {
  return { id: (await answer<{ id: string }>(aim.operator.send('POST', '/webhooks', endpoint(aim)))).id };
}

/** What a webhook was told of a key that was made after it. */
async function newDelivery(aim: Aim): Promise<{ id: string; did: string }> {
  const { id } = await newWebhook(aim);
  await newKey(aim);
  for (;;) {
    const [made] = await answer<{ id: string }[]>(aim.operator.get(`/webhooks/${id}/deliveries`));
    if (made) return { id, did: made.id };
    await setTimeout(20);
  }
}

async function newDraft(aim: Aim): Promise<{ id: string; vid: string }> {
  const { id } = await newModel(aim);
  const draft = await answer<{ id: string }>(aim.admin.send('POST', `/models/${id}/versions`, content));
  return { id, vid: draft.id };
}

async function activeVersion({ operator }: Aim): Promise<{ id: string; vid: string }> {
  type Found = { id: string; versions: { id: string }[] };
  const { id, versions } = await answer<Found>(operator.get('/models/serials/theme.001'));
  return { id, vid: versions[0]?.id ?? '' };
}

async function newLogo(aim: Aim): Promise<{ id: string }> {
  const { id } = await newModel(aim);
  const headers = { ...aim.admin.headers, 'Content-Type': 'image/png' };
  const uploaded = aim.fetch(`/models/${id}/logo`, { method: 'PUT', headers, body: pixel });
  return { id: (await answer<{ logoPath: string }>(uploaded)).logoPath.split('/').at(-1) ?? '' };
}

async function subjectId({ relation, operator }: Aim): Promise<string> {
  if (relation === 'none') return nobodysId;
  const [found] = await answer<{ id: string }[]>(operator.get(`/subjects?name=${subjectOf(relation)}`));
  return found?.id ?? '';
}

const model = (more?: Parts) => thing(activeVersion, { id: nobodysId }, more);
const version = (more?: Parts) => thing(activeVersion, { id: nobodysId, vid: nobodysId }, more);
const ownModel = (more?: Parts) => thing(newModel, { id: nobodysId }, more);
const draft = (more?: Parts) => thing(newDraft, { id: nobodysId, vid: nobodysId }, more);
const file = (params: Record<string, string>, unknown: Record<string, string>) =>
  thing(() => params, unknown);

const evaluation = (id: string) => ({
  subject: { type: 'subject', id },
  action: { name: 'process' },
  resource: { type: 'element', id: 'processing.001' },
});

/** By operationId: an operation without an entry fails the test. */
export const recipes: Record<string, Recipe> = {
  createTransaction: ofSubject((subject) => ({ json: { ...context, subject } })),
  createSingleStepTransaction: plain({ json: { context, values: answers } }),
  uploadDocument: plain({ image: pixel }),
  getDocument: about('final'),
  previewForm: {
    relations: ['own', 'other'],
    make: ({ relation }) => ({ json: relation === 'own' ? { layout: 'layout.001' } : context }),
  },
  openShortLink: thing(async (aim) => ({ code: await shortCode(aim) }), { code: '0000000000' }),
  createShortLink: about('open'),
  getPublicForm: thing(async (aim) => ({ key: (await publicForm(aim)).key }), { key: 'layout.999' }),
  startPublicForm: thing(async (aim) => ({ key: (await publicForm(aim)).key }), { key: 'layout.999' }),
  getFormQrCode: thing(async (aim) => ({ id: (await publicForm(aim)).id }), { id: nobodysId }),
  getFormPoster: thing(async (aim) => ({ id: (await publicForm(aim)).id }), { id: nobodysId }),
  getTransaction: about('open'),
  getForm: about('open'),
  submitAnswers: about('open', { json: answers }),
  getConfirmation: about('open'),
  confirmAnswers: about('open', { json: { code: '123456' } }),
  resendCode: about('open'),
  sendInvitation: about('open'),
  listMessages: about('open'),
  cancelTransaction: about('open'),
  withdrawConsents: about('final', { json: { comment: 'Enough letters' } }),
  getChoices: ofSubject((subject) => ({ query: { subject } })),
  openChoices: { ...ofSubject((subject) => ({ json: { subject } })), relations: ['own', 'other'] },
  // The instance sends no mails.
  sendChoicesLink: { ...plain({ json: { address: 'ann@example.org' } }), letIn: 422 },
  getChoicesLink: { ...plain(), letIn: 410 },
  openChoicesLink: { ...plain(), letIn: 410 },
  // An account that has answered nothing has nothing to change.
  changeChoices: { ...plain({ json: { elements: ['processing.001'] } }), letIn: 422 },
  exportChoices: plain(),
  endChoices: plain(),
  withdrawChoices: ofSubject((subject) => ({ json: { subject } })),
  getChild: about('parent'),
  createChild: about('final'),
  getContext: about('open'),
  getHistory: about('open'),
  listTransactions: plain(),
  searchTransactions: plain({ json: {} }),
  listRecords: ofSubject((subject) => ({ query: { subject } })),
  extractRecords: plain({ json: { condition: { key: 'processing.001', value: 'accepted' } } }),
  importRecords: plain({ ndjson: '' }),
  exportRecords: plain(),
  exportModels: plain(),
  listSubjects: plain(),
  createSubject: ofSubject((name) => ({ json: { name } })),
  getSubject: ofSubject((name) => ({ params: { name } })),
  updateSubject: ofSubject(async (_, aim) => ({
    params: { name: await subjectId(aim) },
    json: { defaultLanguage: 'fr' },
  })),
  listSubjectRecords: ofSubject((name) => ({ params: { name } }), true),
  exportSubject: ofSubject((name) => ({ params: { name } })),
  holdSubject: ofErased({ json: { reason: 'A legal claim' } }),
  endHold: ofErased(),
  eraseSubject: ofErased({ json: { reason: 'A letter' } }),
  recordErasureRequest: ofErased({ json: { reason: 'A letter' } }),
  // A program has no subject.
  requestErasure: { ...plain({ json: { reason: 'A letter' } }), letIn: 422 },
  listErasures: plain(),
  getErasure: thing(newErasure, { erasure: '5sVdYk2pQxWm4tYv9LsRb2' }),
  decideErasure: thing(newErasure, { erasure: '5sVdYk2pQxWm4tYv9LsRb2' }, { json: { status: 'RUNNING' } }),
  listCampaigns: plain(),
  createCampaign: plain({ json: campaign }),
  getCampaign: ofCampaign(),
  updateCampaign: ofCampaign({ json: campaign }),
  setCampaignStatus: ofCampaign({ json: { status: 'CANCELLED' } }),
  forecastCampaign: ofCampaign(),
  listCampaignMembers: ofCampaign(),
  previewCampaignMessage: ofCampaign(),
  getReceipt: about('final'),
  getVerifyPage: plain(),
  verifyReceipt: plain({ jws: 'a.b.c' }),
  getUserRecords: plain(),
  getStats: plain(),
  decideQuestions: ofSubject((subject) => ({
    json: { subject, questions: [{ element: 'processing.001' }] },
  })),
  getDecision: ofSubject((subject) => ({ query: { subject, element: 'processing.001' } })),
  evaluateAccess: ofSubject((subject) => ({ json: evaluation(subject) })),
  evaluateAccesses: ofSubject((subject) => ({ json: { evaluations: [evaluation(subject)] } })),
  getAccessMappings: plain(),
  setAccessMappings: plain({ json: { mappings: [] } }),
  getAuthzenConfiguration: plain(),
  countValidAnswers: plain({ query: { keys: 'processing.001' } }),
  getUser: plain(),
  listKeys: plain(),
  // Of the scope that all who may create keys may give: test/service/auth-keys.test.ts has the others.
  createKey: plain({ json: { name: 'another', scope: 'PEER' } }),
  revokeKey: thing(newKey, { id: nobodysId }),
  listAccounts: plain(),
  createAccount: { relations: ['own'], make: () => ({ json: { name: newName(), role: 'operator' } }) },
  updateAccount: thing(newAccount, { id: nobodysId }, { json: { disabled: true } }),
  deleteAccount: thing(newAccount, { id: nobodysId }),
  removeSecondFactor: thing(newAccount, { id: nobodysId }),
  createAccountLink: thing(newAccount, { id: nobodysId }),
  changeEmail: { ...plain({ json: { email: null } }), letIn: 422 },
  changePassword: {
    ...plain({ json: { current: 'demo', password: 'a long enough phrase' } }),
    // The callers are accounts of the demonstration.
    letIn: 422,
  },
  listAuthAudit: plain(),
  listModelsAudit: plain(),
  listConsentsAudit: plain(),
  listPeersAudit: plain(),
  listCheckpoints: plain(),
  getCheckpointNote: { relations: ['none'], make: () => ({ params: { area: 'nothing' } }) },
  listWebhooksAudit: plain(),
  listPeers: plain(),
  createPeer: { relations: ['own'], make: (aim) => ({ json: invitation(aim) }) },
  getPeer: thing(newPeer, { id: nobodysId }),
  updatePeer: thing(newPeer, { id: nobodysId }, { json: { subjectPrefix: 'lab:' } }),
  deletePeer: thing(newPeer, { id: nobodysId }),
  listWebhooks: plain(),
  createWebhook: { relations: ['own'], make: (aim) => ({ json: endpoint(aim) }) },
  getWebhook: thing(newWebhook, { id: nobodysId }),
  updateWebhook: thing(newWebhook, { id: nobodysId }, { json: { name: 'Another name' } }),
  deleteWebhook: thing(newWebhook, { id: nobodysId }),
  renewWebhookSecret: thing(newWebhook, { id: nobodysId }),
  resumeWebhook: thing(newWebhook, { id: nobodysId }),
  testWebhook: thing(newWebhook, { id: nobodysId }),
  listDeliveries: thing(newWebhook, { id: nobodysId }),
  getDelivery: thing(newDelivery, { id: nobodysId, did: nobodysId }),
  repeatDelivery: thing(newDelivery, { id: nobodysId, did: nobodysId }),
  listModels: plain(),
  listPeerModels: plain(),
  createModel: plain({ json: { type: 'theme', name: 'A model' } }),
  importModel: {
    relations: ['own'],
    make: () => ({
      json: { key: `imported.${crypto.randomUUID()}`, type: 'theme', name: 'A model', versions: [] },
    }),
  },
  planModels: plain({ json: { models: [] } }),
  applyModel: {
    relations: ['own'],
    make: (aim) => newStep(aim),
  },
  listTemplates: plain(),
  getTemplate: thing(() => ({ key: 'newsletter' }), { key: 'nothing' }),
  useTemplate: thing(
    () => ({ key: 'newsletter.letter' }),
    { key: 'nothing' },
    { json: { languages: ['en'] } },
  ),
  getModelByKey: thing(() => ({ key: 'theme.001' }), { key: 'theme.999' }),
  getModel: model(),
  updateModel: ownModel({ json: { name: 'Another name' } }),
  deleteModel: ownModel(),
  exportModel: model(),
  uploadLogo: ownModel({ image: pixel }),
  listVersions: model(),
  createVersion: ownModel({ json: content }),
  getLatestVersion: model(),
  getActiveVersion: model(),
  getVersion: version(),
  updateVersion: draft({ json: content }),
  deleteVersion: draft(),
  checkVersion: draft(),
  setVersionStatus: draft({ json: { status: 'ACTIVE' } }),
  setVersionType: draft({ json: { type: 'MAJOR' } }),
  previewVersion: version({ json: {} }),
  getSystemConfig: plain(),
  getSettings: plain(),
  updateSettings: plain({ json: { language: null } }),
  uploadInstanceLogo: plain({ image: pixel }),
  getContractYaml: plain(),
  getContractJson: plain(),
  getDocs: plain(),
  getProblemPage: file({ code: 'forbidden' }, { code: 'nothing' }),
  getAsset: file({ file: 'embed.js' }, { file: 'nothing.js' }),
  getThemeStyle: file({ key: 'theme.001', file: '1.0.css' }, { key: 'theme.001', file: '9.0.css' }),
  getLogo: thing(newLogo, { id: nobodysId }),
  getWelcome: plain(),
  getDemoHost: plain(),
  listDemoMessages: plain(),
  getInstance: plain(),
  getSigningKeys: plain(),
};
