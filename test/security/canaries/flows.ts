import { type Caller, createKey, type Reachable, signIn } from '../../support/instances/callers.ts';
import { activateContent, makeLiveModel } from '../../support/instances/live-models.ts';
import type { Canaries } from './canaries.ts';
import type { Recorder } from './recorder.ts';

/** Who walks, and what is planted on the way. */
export interface Walk {
  instance: Reachable;
  recorder: Recorder;
  canaries: Canaries;
  admin: Caller;
  /** A server with an API key. */
  shop: Caller;
}

/** Signs in and makes a key; what the instance gives out is a secret from then on. */
export async function beginWalk(url: string, recorder: Recorder, canaries: Canaries): Promise<Walk> {
  const instance = { url, fetch: recorder.fetch };
  const admin = await signIn(instance, 'admin');
  canaries.keepSecret('access token', admin.headers.Authorization?.split(' ')[1] ?? '');
  const shop = await createKey(instance, canaries.plant('name of the key'));
  canaries.keepSecret('key as it was made', shop.key);
  return { instance, recorder, canaries, admin, shop };
}

/** A context with a planted value in every field that takes one. */
export function plantContext({ plant }: Canaries) {
  const fields = {
    author: plant('author'),
    object: plant('object'),
    callback: `https://${plant('host of the callback')}.example/${plant('path of the callback')}?q=${plant('callback query')}`,
    iframeOrigin: `https://${plant('iframeOrigin')}.example`,
    subjectInfos: {
      emailAddress: `${plant('address')}@mail.example`,
      phoneNumber: plant('telephone'),
      other: plant('other info'),
    },
    attributes: { [plant('name of the attribute')]: plant('attribute') },
  };
  return { subject: plant('subject'), cancellable: true, configuration: fields };
}

const elements = ['processing.001', 'processing.002', 'preference.003'];
const layoutData = { type: 'layout', info: 'information.001', elements };

/** Answers of the subject, with text of their own. */
function plantAnswers({ plantMarkup }: Canaries) {
  return {
    info: ['element/information/information.001/1.0'],
    'element/processing/processing.001/1.0': ['accepted'],
    'element/processing/processing.002/1.0': ['refused'],
    'element/preference/preference.003/1.0': [plantMarkup('free text')],
    comment: [plantMarkup('comment')],
  };
}

interface Made {
  id: string;
  token: string;
}

/** Has the shop make a transaction. */
export async function make(walk: Walk): Promise<Made & { subject: string }> {
  const context = { ...plantContext(walk.canaries), layoutData };
  const response = await walk.shop.send('POST', '/consents', context);
  const made = (await response.json()) as Made;
  walk.canaries.keepSecret('transaction token', made.token);
  return { ...made, subject: context.subject };
}

/** A subject answers in a browser: form, post, final page, receipt, change, cancel. */
export async function walkInBrowser(walk: Walk): Promise<void> {
  const { id, token, subject } = await make(walk);
  const { fetch } = walk.recorder;
  const html = { Accept: 'text/html' };
  const at = (path: string) => `${path}?t=${token}`;
  await fetch(at(`/consents/${id}`), { headers: html });
  await fetch(at(`/consents/${id}/submit`), { headers: html });
  const fields = Object.entries(plantAnswers(walk.canaries)).map(([name, [value = '']]): [string, string] => [
    name,
    value,
  ]);
  const post = (path: string, body: [string, string][]) =>
    fetch(at(path), { method: 'POST', headers: html, body: new URLSearchParams(body) });
  await post(`/consents/${id}/submit`, [
    ...fields,
    [walk.canaries.plant('unknown field'), walk.canaries.plant('value of it')],
  ]);
  await post(`/consents/${id}/submit`, fields);
  for (const path of [`/consents/${id}`, `/receipts/${id}`, `/consents/${id}/child`])
    await fetch(at(path), { headers: html });
  const child = await post(`/consents/${id}/child`, []);
  const location = new URL(child.headers.get('location') ?? '');
  walk.canaries.keepSecret('token of the child', location.searchParams.get('t') ?? '');
  await fetch(location.href, { headers: html });
  await fetch(`${location.origin}${location.pathname}/cancel${location.search}`, {
    method: 'POST',
    headers: html,
  });
  // The same subject again is shown what was answered before.
  await walk.shop.send('POST', '/consents', { subject, layoutData });
}

/** A client does the same as JSON, and callers look it all up. */
export async function walkAsClient(walk: Walk): Promise<void> {
  const { shop, canaries, recorder } = walk;
  const { id, token, subject } = await make(walk);
  const headers = { Authorization: `Transaction ${token}`, 'Content-Type': 'application/json' };
  const answers = plantAnswers(canaries);
  await recorder.fetch(`/consents/${id}/submit`, { headers });
  await recorder.fetch(`/consents/${id}/submit`, { method: 'POST', headers, body: JSON.stringify(answers) });
  await recorder.fetch(`/consents/${id}/submit`, {
    method: 'POST',
    headers,
    body: JSON.stringify(plantAnswers(canaries)),
  });
  for (const format of ['json', 'jose', 'html'])
    await recorder.fetch(`/receipts/${id}?format=${format}`, { headers });
  const context = { ...plantContext(canaries), layoutData };
  await shop.send('POST', '/consents/singlestep', { context, values: plantAnswers(canaries) });
  await shop.send(
    'POST',
    '/consents/preview',
    { ...plantContext(canaries), layoutData },
    { Accept: 'text/html' },
  );
  for (const path of [
    `/consents/${id}`,
    `/consents/${id}/context`,
    `/transactions?subject=${subject}`,
    `/records?subject=${subject}`,
    `/subjects?name=${subject}`,
    `/subjects/${subject}`,
    `/subjects/${subject}/records`,
    '/user',
  ])
    await shop.get(path);
  await shop.send('POST', '/transactions', { subject, states: ['COMMITTED'] });
  const condition = { key: 'preference.003', value: answers['element/preference/preference.003/1.0'][0] };
  await shop.send('POST', '/records/extraction', { condition });
  await shop.send('POST', '/records/extraction', { condition }, { Accept: 'text/csv' });
}

/** People and models. */
export async function walkAsAdmin(walk: Walk): Promise<void> {
  const { shop, admin, canaries } = walk;
  const { plant, plantMarkup } = canaries;
  const name = plant('name of a subject');
  const made = await shop.send('POST', '/subjects', {
    name,
    emailAddress: `${plant('address of it')}@mail.example`,
  });
  const { id } = (await made.json()) as { id: string };
  await shop.send('PUT', `/subjects/${id}`, { emailAddress: `${plant('new address of it')}@mail.example` });
  await shop.send('POST', '/subjects', { name });
  const en = {
    title: plantMarkup('title'),
    data: plant('data'),
    retention: { label: plant('retention') },
    usage: plant('usage'),
  };
  const model = await makeLiveModel(admin, 'processing', { en });
  await activateContent(admin, model, { en: { ...en, title: plant('new title') } });
  await admin.send('PUT', `/models/${model.id}`, {
    name: plant('name of a model'),
    description: plant('description'),
  });
  await admin.get(`/models/${model.id}/export`);
  await admin.get(`/models?keyword=${plant('keyword')}`);
}
