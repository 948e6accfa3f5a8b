import { beforeEach, describe, expect, it } from 'vitest';
import { readAudit, type ShownLine } from '../support/instances/audit-reader.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { startEndpoint } from '../support/instances/webhook-endpoint.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
const operator = useSetup(() => signIn(instance, 'operator'));
const user = useSetup(() => signIn(instance, 'user'));
const key = useSetup(() => createKey(instance, 'a program'));

type Area = 'models' | 'consents' | 'peers' | 'webhooks';
const areas: Area[] = ['models', 'consents', 'peers', 'webhooks'];
const readLog = async (area: Area) => (await readAudit((path) => admin.get(path), area, '?limit=200')).values;

let seen = new Set<string>();
beforeEach(async () => {
  seen = new Set((await Promise.all(areas.map(readLog))).flat().map(({ id }) => id));
});
/** Lines since the test began, oldest first: `<actorKind> <action> <target>`. */
const newLines = async (area: Area) =>
  (await readLog(area))
    .filter(({ id }) => !seen.has(id))
    .reverse()
    .map(({ actorKind, action, target }) => `${actorKind} ${action} ${target}`);
const jsonOf = async <T>(response: Promise<Response>) => (await (await response).json()) as T;
const idOf = async (response: Promise<Response>) => (await jsonOf<{ id: string }>(response)).id;
const contextOf = (subject: string) => ({ subject, layoutData: { elements: ['processing.001'] } });
const answers = { 'element/processing/processing.001/1.0': ['accepted'] };
const createFor = async (subject: string, caller: Caller = key) =>
  await idOf(caller.send('POST', '/consents', contextOf(subject)));
const referenceOf = (subject: string) => idOf(key.get(`/subjects/${subject}`));

describe('the audit log of models', () => {
  it('tells what became of an entry and its versions', async () => {
    const id = await idOf(admin.send('POST', '/models', { type: 'theme', name: 'Sand' }));
    const path = `/models/${id}`;
    const content = { defaultLanguage: 'en', data: { en: { title: 'Sand' } } };
    const made = await admin.send('POST', `${path}/versions?incomplete=true`, content);
    const version = `${path}/versions/${await idOf(Promise.resolve(made))}`;
    await admin.send('PUT', `${version}?incomplete=true`, content);
    await admin.send('PUT', `${version}/type`, { type: 'MAJOR' });
    await admin.send('PUT', path, { name: 'Dune' });
    await admin.send('DELETE', version);
    await admin.send('DELETE', path);
    expect(await newLines('models')).toEqual(
      ['model.created', 'version.created', 'version.updated', 'version.updated', 'model.updated']
        .concat('version.deleted', 'model.deleted')
        .map((action) => `account ${action} model/${id}`),
    );
  });

  it('tells of activations and of archived versions, and of none that is rejected', async () => {
    const made = { type: 'theme', name: 'Sand' };
    const id = await idOf(admin.send('POST', '/models', made));
    const draft = { defaultLanguage: 'en', data: { en: { name: 'Sand' } } };
    const version = await idOf(admin.send('POST', `/models/${id}/versions?incomplete=true`, draft));
    const path = `/models/${id}/versions/${version}/status`;
    const rejected = await admin.send('PUT', path, { status: 'ARCHIVED' });
    expect(rejected.status).toBe(409);
    await admin.send('PUT', path, { status: 'ACTIVE' });
    await admin.send('PUT', path, { status: 'ARCHIVED' });
    expect((await newLines('models')).slice(2)).toEqual([
      `account version.activated model/${id}`,
      `account version.archived model/${id}`,
    ]);
  });

  it('names no entry', async () => {
    const rows = await rowsOf(instance, 'SELECT * FROM forms.audit_log');
    expect(JSON.stringify(rows)).not.toMatch(/Sand|Dune/);
  });
});

describe('the audit log of consents', () => {
  it('tells what people with an account do for subjects', async () => {
    const first = await createFor('ann', operator);
    await operator.send('POST', `/consents/${first}/submit`, answers);
    const second = await createFor('bert', operator);
    await operator.send('POST', `/consents/${second}/cancel`);
    const single = await idOf(
      operator.send('POST', '/consents/singlestep', { context: contextOf('cleo'), values: answers }),
    );
    const child = await idOf(operator.send('POST', `/consents/${first}/child`));
    expect(await newLines('consents')).toEqual([
      `account transaction.created transaction/${first}`,
      `account answers.submitted transaction/${first}`,
      `account transaction.created transaction/${second}`,
      `account transaction.cancelled transaction/${second}`,
      `account answers.submitted transaction/${single}`,
      `account transaction.created transaction/${child}`,
    ]);
  });

  it('tells whose data people with an account read', async () => {
    const id = await createFor('dora');
    await key.send('POST', `/consents/${id}/submit`, answers);
    const reference = await referenceOf('dora');
    const reads = [
      ['/subjects/dora', 'subject.read'],
      ['/subjects/dora/records', 'records.read'],
      ['/records?subject=dora', 'records.read'],
      ['/choices?subject=dora', 'records.read'],
      [`/consents/${id}`, 'transaction.read'],
      [`/consents/${id}/context`, 'transaction.read'],
      [`/consents/${id}/history`, 'transaction.read'],
      [`/consents/${id}/messages`, 'transaction.read'],
      [`/receipts/${id}`, 'receipt.read'],
      ['/transactions?subject=dora', 'transaction.read'],
    ] as const;
    for (const [path] of reads) expect((await operator.get(path)).status, path).toBe(200);
    expect(await newLines('consents')).toEqual(
      reads.map(([, action]) => `account ${action} subject/${reference}`),
    );
  });

  it('tells who listed the data of many', async () => {
    await operator.get('/subjects');
    await operator.get('/transactions');
    await operator.send('POST', '/transactions', {});
    const condition = { key: 'processing.001', value: 'accepted' };
    await operator.send('POST', '/records/extraction', { condition });
    await key.send('POST', '/records/extraction', { condition });
    expect(await newLines('consents')).toEqual([
      'account subjects.listed subject/all',
      'account transactions.listed transaction/all',
      'account transactions.listed transaction/all',
      'account records.extracted record/all',
      'key records.extracted record/all',
    ]);
  });

  it('tells who created and changed a subject', async () => {
    const id = await idOf(operator.send('POST', '/subjects', { name: 'emil' }));
    await key.send('PUT', `/subjects/${id}`, { defaultLanguage: 'fr' });
    expect(await newLines('consents')).toEqual([
      `account subject.created subject/${id}`,
      `key subject.updated subject/${id}`,
    ]);
  });

  it('has no line of programs that ask and read, of subjects, and of what was rejected', async () => {
    const id = await createFor('user');
    await key.get(`/consents/${id}`);
    await key.get('/records?subject=user');
    await user.get(`/consents/${id}`);
    await user.send('POST', `/consents/${id}/submit`, answers);
    await user.get('/records?subject=user');
    await operator.send('POST', `/consents/${id}/cancel`);
    await operator.get('/consents/2222222222222222222222');
    await operator.get('/subjects/nobody');
    expect(await newLines('consents')).toEqual([]);
  });

  it('names no subject', async () => {
    await operator.get(`/consents/${await createFor('a-telling-name')}`);
    const rows = await rowsOf(instance, 'SELECT * FROM transactions.audit_log');
    expect(JSON.stringify(rows)).not.toContain('a-telling-name');
  });
});

describe('the audit log of webhooks', () => {
  it('tells what became of a webhook', async () => {
    const { url } = await startEndpoint();
    const id = await idOf(
      key.send('POST', '/webhooks', { targetUrl: url, subscribedActions: ['key.created'] }),
    );
    const path = `/webhooks/${id}`;
    const delivery = await idOf(admin.send('POST', `${path}/test`));
    await admin.send('POST', `${path}/deliveries/${delivery}/redeliver`);
    await admin.send('PUT', path, { name: 'the shop' });
    await admin.send('POST', `${path}/secret`);
    await admin.send('POST', `${path}/resume`);
    await admin.send('DELETE', path);
    expect(await newLines('webhooks')).toEqual([
      `key webhook.created webhook/${id}`,
      `account webhook.tested webhook/${id}`,
      `account delivery.repeated webhook/${id}`,
      `account webhook.updated webhook/${id}`,
      `account webhook.secret-renewed webhook/${id}`,
      `account webhook.deleted webhook/${id}`,
    ]);
  });
});

describe('every audit log', () => {
  it.each(areas)('of %s is for administrators alone', async (area) => {
    expect((await admin.get(`/audit/${area}`)).status).toBe(200);
    for (const caller of [operator, key, user]) expect((await caller.get(`/audit/${area}`)).status).toBe(403);
  });

  it('is committed with its action: a line that cannot be written undoes it', async () => {
    await runInDatabase(
      instance,
      `ALTER TABLE transactions.audit_log ADD CONSTRAINT refused CHECK (action <> 'answers.submitted') NOT VALID`,
    );
    const id = await createFor('fay', operator);
    await expect(operator.send('POST', `/consents/${id}/submit`, answers)).rejects.toThrow('answered 500');
    await runInDatabase(instance, 'ALTER TABLE transactions.audit_log DROP CONSTRAINT refused');
    const { state } = await jsonOf<{ state: string }>(key.get(`/consents/${id}`));
    expect(state).toBe('CREATED');
  });

  it('has the id of the request', async () => {
    const response = await operator.get('/subjects');
    const [line] = (await readLog('consents')).slice(0, 1) as [ShownLine];
    expect(line.request).toBe(response.headers.get('x-request-id'));
  });
});
