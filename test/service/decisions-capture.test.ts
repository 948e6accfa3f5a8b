import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, inject, it, onTestFinished } from 'vitest';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createDecisionCounts } from '../../services/transactions/decisions/counts.ts';
import { readAudit } from '../support/instances/audit-reader.ts';
import { type Caller, callerWith, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import { problemOf } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

/** Questions that a key may ask in a minute. */
const allowed = 300;
const many = 'key=100000,user=100000,transaction=100000,address=100000,authorization=100000';
const instance = useInstance({ RATE_LIMITS: `${many},decision=${allowed}` });
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));
const user = useSetup(() => signIn(instance, 'user'));

const makeElement = () => makeLiveModel(admin, 'processing', { en: sampleContent.processing });
const captureOf = (key: string, more = {}) => ({ layoutData: { elements: [key] }, ask: 'CHANGED', ...more });
const post = (body: Record<string, unknown>) => operator.send('POST', '/decisions', body);
const ask = async (subject: string, key: string, more: Record<string, unknown> = {}) => {
  const response = await post({ subject, questions: [{ element: key }], capture: captureOf(key), ...more });
  expect(response.status).toBe(200);
  return (await response.json()) as { decisions: { reason: string }[]; captureUrl?: string };
};

it('a question without an answer has the URL of a form, which is the same for the same context', async () => {
  const { key } = await makeElement();
  const subject = `ann ${randomUUID()}`;
  const [one, other] = await Promise.all([ask(subject, key), ask(subject, key)]);
  const [url, same] = [one, other].map(({ captureUrl }) => new URL(captureUrl ?? ''));
  expect(url?.searchParams.get('t')).toBeTruthy();
  expect(same?.pathname).toBe(url?.pathname);
  const form = await instance.fetch(`${url?.pathname}/submit${url?.search}`);
  expect(await form.json()).toMatchObject({ elements: [{ entry: { key } }] });
  const created = await operator.send('POST', '/consents', { subject, ...captureOf(key) });
  expect(created.status).toBe(200);
  expect(new URL(created.headers.get('location') ?? '').pathname).toBe(url?.pathname);
});

it('nothing is created for what is given, refused, withdrawn or cannot be asked', async () => {
  const { key, id } = await makeElement();
  const answer = (subject: string, value: string) =>
    recordAnswers(operator, subject, { [`element/processing/${key}/1.0`]: [value] });
  const [given, refused] = [`bob ${randomUUID()}`, `cat ${randomUUID()}`];
  await Promise.all([answer(given, 'accepted'), answer(refused, 'refused')]);
  for (const [subject, reason] of [
    [given, 'GIVEN'],
    [refused, 'REFUSED'],
  ] as const) {
    const answered = await ask(subject, key);
    expect(answered).toMatchObject({ decisions: [{ reason }] });
    expect(answered).not.toHaveProperty('captureUrl');
  }
  await withdrawModel(admin, { id, key });
  await expect.poll(async () => (await ask(given, key)).decisions[0]?.reason).toBe('NOT_ACTIVE');
  expect(await ask(given, key)).not.toHaveProperty('captureUrl');
});

it('a form is about the object that was asked about', async () => {
  const { key } = await makeElement();
  const { captureUrl } = await ask(`dora ${randomUUID()}`, key, { object: 'card 7' });
  const context = await operator.get(`${new URL(captureUrl ?? '').pathname}/context`);
  expect(await context.json()).toMatchObject({ object: 'card 7', ask: 'CHANGED', origin: 'WEBFORM' });
});

it('faults of the context are below /capture, also when nothing is to be asked', async () => {
  const { key } = await makeElement();
  const faultsOf = async (body: Record<string, unknown>) => {
    const { said, errors } = await problemOf(await post({ questions: [{ element: key }], ...body }));
    return [said, ...(errors as { pointer: string }[]).map(({ pointer }) => pointer)];
  };
  const faulty = captureOf(key, { validity: 'soon', configuration: { timeout: 'later' } });
  expect(await faultsOf({ subject: 'eve', capture: faulty })).toEqual([
    '422 invalid',
    '/capture/validity',
    '/capture/configuration/timeout',
  ]);
  expect(await faultsOf({ subject: 'eve', capture: captureOf(key, { subject: 'eve' }) })).toEqual([
    '422 invalid',
    '/capture/subject',
  ]);
  const unknown = { layoutData: { elements: ['nothing.here'] } };
  expect(await faultsOf({ subject: 'eve', capture: unknown })).toEqual([
    '422 unknown-element',
    '/capture/layoutData/elements/0',
  ]);
  const two = [
    { element: key, subject: 'eve' },
    { element: key, subject: 'fay' },
  ];
  expect(await faultsOf({ questions: two, capture: captureOf(key) })).toEqual(['422 invalid', '/capture']);
});

it('a fault of the person who is asked is where the request names the person', async () => {
  const { key } = await makeElement();
  const long = 'x'.repeat(1_025);
  for (const [body, pointer] of [
    [{ subject: long, questions: [{ element: key }] }, '/subject'],
    [{ questions: [{ element: key, subject: long }] }, '/questions/0/subject'],
  ] as const)
    expect(await problemOf(await post({ ...body, capture: captureOf(key) }))).toMatchObject({
      said: '422 invalid',
      errors: [{ pointer }],
    });
});

/** The same question in each form. */
function inEveryForm(key: string): ((caller: Caller) => Promise<Response>)[] {
  const evaluation = {
    subject: { type: 'subject', id: 'gil' },
    action: { name: 'process' },
    resource: { type: 'element', id: key },
  };
  return [
    (caller) => caller.send('POST', '/decisions', { subject: 'gil', questions: [{ element: key }] }),
    (caller) => caller.get(`/decisions?subject=gil&element=${key}`),
    (caller) => caller.send('POST', '/access/v1/evaluation', evaluation),
    (caller) => caller.send('POST', '/access/v1/evaluations', { evaluations: [evaluation] }),
  ];
}

it('nothing is decided while forms or PostgreSQL is away: 503 with Retry-After, in every form', async () => {
  const [known, unread] = await Promise.all([makeElement(), makeElement()]);
  const expectAway = async (key: string) => {
    const answers = await Promise.all(inEveryForm(key).map((send) => send(operator)));
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await answer.json()).toMatchObject({ type: `${instance.url}/docs/problems/unavailable` });
    }
  };
  const forms = new pg.Client({ connectionString: instance.databaseUrl });
  await forms.connect();
  await forms.query('BEGIN; LOCK TABLE forms.models, forms.model_versions IN ACCESS EXCLUSIVE MODE');
  await expectAway(unread.key);
  await forms.query('ROLLBACK');
  await forms.end();

  const database = new URL(instance.databaseUrl).pathname.slice(1);
  const { adminUrl } = inject('postgres');
  const admit = (connections: number) =>
    rowsOf({ databaseUrl: adminUrl }, `ALTER DATABASE ${database} CONNECTION LIMIT ${connections}`);
  onTestFinished(async () => void (await admit(-1)));
  // What forms has said is kept for a second.
  await operator.get(`/decisions?subject=gil&element=${known.key}`);
  await admit(0);
  await rowsOf(
    { databaseUrl: adminUrl },
    'SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity AS a WHERE a.datname = $1',
    [database],
  );
  await expectAway(known.key);
  await admit(-1);
  await expect
    .poll(async () => (await operator.get(`/decisions?subject=gil&element=${known.key}`)).status)
    .toBe(200);
});

it('questions have a limit for each key, however they are asked, and count nowhere else', async () => {
  const { key } = await makeElement();
  const gateway = await createKey(instance, 'limited gateway', 'DECISION');
  const questions = Array.from({ length: 100 }, () => ({ element: key }));
  for (let asked = 0; asked < allowed; asked += questions.length)
    expect((await gateway.send('POST', '/decisions', { subject: 'gil', questions })).status).toBe(200);
  for (const send of inEveryForm(key)) {
    const refused = await send(gateway);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect((await send(operator)).status).toBe(200);
  }
});

it('people and keys that only ask get no form', async () => {
  const { key } = await makeElement();
  const made = await admin.send('POST', '/keys', { name: 'gateway', scope: 'DECISION' });
  const gateway = callerWith(instance, { 'CM-Key': ((await made.json()) as { key: string }).key });
  const body = { subject: 'user', questions: [{ element: key }], capture: captureOf(key) };
  const answers = await Promise.all([user, gateway].map((caller) => caller.send('POST', '/decisions', body)));
  expect(answers.map(({ status }) => status)).toEqual([403, 403]);
});

it('the audit log counts decisions by caller and reason, again after a failure, and no subject', async () => {
  const log = createLogger({ level: 'silent' });
  const pool = createPool({ url: instance.databaseUrl, schema: 'transactions', log });
  const db = createDatabase({ pool });
  let isAway = true;
  const withTransaction: Database['withTransaction'] = (work) =>
    isAway ? Promise.reject(new Error('away')) : db.withTransaction(work);
  const counts = createDecisionCounts({ db: { ...db, withTransaction }, log, metrics: undefined });
  const id = randomUUID();
  const decided = (reason: 'GIVEN' | 'NO_ANSWER') => ({
    allowed: reason === 'GIVEN',
    reason,
    element: 'processing.001',
    asOf: '2026-05-03T10:00:00.000Z',
    position: 7,
  });
  counts.count(`key:${id}`, [decided('GIVEN'), decided('NO_ANSWER'), decided('GIVEN')]);
  counts.count('subject', [decided('GIVEN')]);
  await expect(counts.flush()).rejects.toThrow('away');
  counts.count(`key:${id}`, [decided('GIVEN')]);
  isAway = false;
  await counts.stop();
  await counts.flush();
  await pool.end();
  const { values } = await readAudit((path) => admin.get(path), 'consents', '?action=decisions.counted');
  expect(values.map(({ actor, actorKind, target }) => ({ actor, actorKind, target })).reverse()).toEqual([
    { actor: id, actorKind: 'key', target: 'decision/GIVEN:3' },
    { actor: id, actorKind: 'key', target: 'decision/NO_ANSWER:1' },
  ]);
});
