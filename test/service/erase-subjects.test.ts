import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { erasuresToWorkOn } from '../../services/transactions/erasure/store.ts';
import { liftHold } from '../../services/transactions/standing/holds-store.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { eventsOf, keepEvents, type LiveEvent } from '../support/instances/live-events.ts';
import { complete, letter, problemOf, study, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { tablesWith } from '../support/instances/tables-with.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));
const user = useSetup(() => signIn(instance, 'user'));
beforeAll(() => keepEvents(instance));

const both = { ...complete, [letter]: ['accepted'], [study]: ['accepted'] };

interface Erasure {
  id: string;
  subject: string;
  state: string;
  reason?: string;
  ground?: string;
  done?: string;
  counts: { transactions: number; records: number; receipts: number; messages: number };
}

const json = async <T>(answer: Response | Promise<Response>) => (await (await answer).json()) as T;
const path = (subject: string, rest: string) => `/subjects/${encodeURIComponent(subject)}/${rest}`;
const erasureOf = (id: string) => json<Erasure>(operator.get(`/erasures/${id}`));

/** Erases a subject and waits until that is done. */
async function erase(subject: string, body?: object): Promise<Erasure> {
  const answer = await admin.send('POST', path(subject, 'erasure'), body);
  expect(answer.status).toBe(202);
  return reach((await json<Erasure>(answer)).id, 'DONE');
}

const reach = (id: string, state: string) =>
  vi.waitFor(
    async () => {
      const erasure = await erasureOf(id);
      expect(erasure.state).toBe(state);
      return erasure;
    },
    { timeout: 20_000, interval: 50 },
  );

/** The counts of answers of all days. */
const answerStats = async () => (await json<{ elements: unknown }>(operator.get('/stats'))).elements;

const reasonOf = async (subject: string) =>
  (
    await json<{ decisions: { reason: string }[] }>(
      shop.send('POST', '/decisions', { subject, questions: [{ element: 'processing.001' }] }),
    )
  ).decisions[0]?.reason;

describe('an erasure', () => {
  it('leaves none of the texts that tell of the person in any table', { timeout: 120_000 }, async () => {
    const subjects = Array.from({ length: 20 }, (_, index) => `canary-${index}-subject`);
    for (const [index, subject] of subjects.entries()) {
      const c = (what: string) => `canary-${index}-${what}`;
      const made = await createTransaction(shop, {
        subject,
        object: c('object'),
        author: c('author'),
        attributes: { note: c('attribute') },
        callback: `https://example.org/${c('callback')}`,
        subjectInfos: { emailAddress: `${c('mail')}@example.org`, firstName: c('name') },
      });
      expect((await subjectOf(instance, made).submit(both)).status).toBe(200);
      const comment = c('comment');
      const body = { subject, comment };
      expect((await shop.send('POST', '/choices/withdraw', body)).status).toBe(201);
      await createTransaction(shop, { subject, object: c('open'), updatable: false });
    }
    expect(await tablesWith(instance, 'canary')).toContain('transactions.records');
    for (const subject of subjects) await erase(subject, { reason: `canary-reason of ${subject}` });
    expect(await tablesWith(instance, 'canary')).toEqual([]);
  });

  it('keeps what nobody can be recognised by, and the statistics', async () => {
    const made = await createTransaction(shop, { subject: 'erika', object: 'flat 12' });
    const as = subjectOf(instance, made);
    expect((await as.submit(both)).status).toBe(200);
    const [record] = (await recordsOf(shop, 'erika'))['processing.001|erika|flat 12'] ?? [];
    const open = await createTransaction(shop, { subject: 'erika', object: 'flat 13' });
    const stats = await answerStats();
    const jws = await (await shop.get(`/receipts/${made.id}?format=jose`)).text();

    const erasure = await erase('erika');
    expect(erasure.counts).toMatchObject({ transactions: 2, records: 3, receipts: 1 });
    expect(erasure.reason).toBeUndefined();
    expect(await answerStats()).toEqual(stats);
    expect(
      (await rowsOf(instance, 'SELECT FROM transactions.subjects WHERE name = $1', ['erika'])).length,
    ).toBe(0);

    const skeleton = await json<{ subject: string; state: string; erased: string; token?: string }>(
      shop.get(`/consents/${made.id}`),
    );
    expect(skeleton.subject).toMatch(/^erased:/);
    expect(skeleton).toMatchObject({ state: 'COMMITTED', context: { origin: 'WEBFORM', validity: 'P6M' } });
    expect(skeleton.token).toBeUndefined();
    expect(await json(shop.get(`/consents/${open.id}`))).toMatchObject({ state: 'CANCELLED' });
    const [kept] = (await recordsOf(shop, skeleton.subject))['processing.001'] ?? [];
    expect(kept).toMatchObject({
      serial: record?.serial,
      value: 'accepted',
      state: 'ERASED',
      status: 'IRRELEVANT',
      statusExplanation: 'ERASED',
      creationTimestamp: record?.creationTimestamp,
    });
    expect(kept?.object ?? '').toBe('');
    expect((await instance.fetch(`/consents/${made.id}?t=${made.token}`)).status).toBe(401);
    const receipt = await shop.get(`/receipts/${made.id}`);
    expect(receipt.status).toBe(404);
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(jws)));
    expect(await receipt.json()).toMatchObject({
      erased: { sha256: Buffer.from(digest).toString('base64url') },
    });
    expect(await recordsOf(shop, 'erika')).toEqual({});
    expect(await reasonOf('erika')).toBe('NO_ANSWER');
    for (const gone of ['/submit', '/child'])
      expect((await shop.get(`/consents/${made.id}${gone}`)).status).toBe(404);
  });
});

const hold = (subject: string, body: object) => admin.send('PUT', path(subject, 'hold'), body);

describe('a hold', () => {
  it('keeps an erasure waiting and restricts decisions until it ends', async () => {
    await recordAnswers(shop, 'helen', { [letter]: ['accepted'] });
    expect(await reasonOf('helen')).toBe('GIVEN');
    const { id } = await json<{ id: string }>(shop.get('/subjects/helen'));
    expect((await hold(id, { reason: 'Claim 7' })).status).toBe(200);
    expect(await reasonOf('helen')).toBe('GIVEN');
    const held = await json<Erasure>(admin.send('POST', path('helen', 'erasure')));
    expect(held).toMatchObject({ state: 'HELD', subject: id });
    expect(await reasonOf('helen')).toBe('RESTRICTED');
    expect(await json(shop.get('/subjects/helen'))).toMatchObject({
      hold: { reason: 'Claim 7', restrict: true },
    });
    const [record] = (await recordsOf(shop, 'helen'))['processing.001'] ?? [];
    const told = await eventsOf(instance, { id });
    expect(told.map(({ event }) => [event.type, event.data])).toEqual([
      ['io.accord.subject.restricted.v1', { records: expect.arrayContaining([record?.serial]) }],
    ]);
    expect((await admin.send('DELETE', path('helen', 'hold'))).status).toBe(204);
    await reach(held.id, 'DONE');
    expect(await reasonOf('helen')).toBe('NO_ANSWER');
    const erased = await eventsOf(instance, { id: record?.transaction ?? '' });
    const { event } = erased.at(-1) as LiveEvent;
    expect(event.type).toBe('io.accord.subject.erased.v1');
    expect(event.data).toMatchObject({ erasure: held.id, records: expect.arrayContaining([record?.serial]) });
    const actions = await rowsOf<{ action: string; actor: string }>(
      instance,
      'SELECT action, actor FROM transactions.audit_log WHERE target = $1 ORDER BY at, id',
      [`subject/${id}`],
    );
    expect(actions.at(-1)?.actor).toBe('accord');
    const order = ['subject.held', 'erasure.started', 'subject.released', 'subject.erased'];
    expect(actions.map(({ action }) => action)).toEqual(order);
  });

  it('keeps its erasures out of the list of those to work on', async () => {
    await recordAnswers(shop, 'ida', { [letter]: ['accepted'] });
    expect((await hold('ida', { reason: 'Claim 10' })).status).toBe(200);
    const held = await json<Erasure>(admin.send('POST', path('ida', 'erasure')));
    expect(held.state).toBe('HELD');
    const log = createLogger({ level: 'silent' });
    const pool = createPool({ url: instance.databaseUrl, schema: 'transactions', log });
    onTestFinished(() => pool.end());
    const db = createDatabase({ pool });
    expect(await erasuresToWorkOn(db, 'HELD', { after: '', limit: 100 })).not.toContain(held.id);
    // The job sees the end of the hold only after the COMMIT.
    const listed = await db.withTransaction(async (tx) => {
      await liftHold(tx, 'ida');
      return erasuresToWorkOn(tx, 'HELD', { after: '', limit: 100 });
    });
    expect(listed).toContain(held.id);
    // Repeating the decision wakes the job.
    await admin.send('PUT', `/erasures/${held.id}/status`, { status: 'RUNNING' });
    await reach(held.id, 'DONE');
  });

  it('that ends by its time lets the erasure go on; both are told in events of 50 records each', async () => {
    const { id: transaction } = await recordAnswers(shop, 'petra', { [letter]: ['accepted'] });
    await runInDatabase(
      instance,
      `INSERT INTO transactions.records
       SELECT (r).* FROM (
         SELECT jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'key', 'copy.' || n)) AS r
           FROM transactions.records AS r, generate_series(1, 101) AS n WHERE r.transaction = '${transaction}') AS copies`,
    );
    const records = await rowsOf<{ id: string }>(
      instance,
      'SELECT id FROM transactions.records WHERE transaction = $1 ORDER BY id',
      [transaction],
    );
    /** The records that events of a type name. */
    const told = async (about: string, type: string) => {
      const events = await eventsOf(instance, { id: about });
      return events.flatMap(({ event }) =>
        event.type === `io.accord.subject.${type}.v1` ? [event.data.records as string[]] : [],
      );
    };
    const expectInPieces = (pieces: string[][]) => {
      expect(pieces.map(({ length }) => length).sort()).toEqual([2, 50, 50]);
      expect(pieces.flat().sort()).toEqual(records.map(({ id }) => id));
    };
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const { id: reference } = await json<{ id: string }>(shop.get('/subjects/petra'));
    expect((await hold('petra', { reason: 'Claim 9', until })).status).toBe(200);
    const held = await json<Erasure>(admin.send('POST', path('petra', 'erasure')));
    expect(held.state).toBe('HELD');
    expectInPieces(await told(reference, 'restricted'));
    expect(await told(transaction, 'erased')).toEqual([]);

    onTestFinished(() => letTimePass(instance, '0 days'));
    await letTimePass(instance, '2 days');
    // Repeating the decision wakes the job.
    expect((await admin.send('PUT', `/erasures/${held.id}/status`, { status: 'RUNNING' })).status).toBe(200);
    await reach(held.id, 'DONE');
    expectInPieces(await told(transaction, 'erased'));
  });

  it('restricts decisions from its beginning until its end, and may be ended twice', async () => {
    await recordAnswers(shop, 'hugo', { [letter]: ['accepted'] });
    const until = new Date(Date.now() + 86_400_000).toISOString();
    expect((await hold('hugo', { reason: 'Claim 8', restrict: true, until })).status).toBe(200);
    expect(await reasonOf('hugo')).toBe('RESTRICTED');
    const asOf = new Date(Date.now() - 60_000).toISOString();
    const before = { subject: 'hugo', asOf, questions: [{ element: 'processing.001' }] };
    expect(await json(shop.send('POST', '/decisions', before))).toMatchObject({
      decisions: [{ reason: 'NO_ANSWER' }],
    });
    await letTimePass(instance, '2 days');
    expect(await reasonOf('hugo')).toBe('GIVEN');
    await letTimePass(instance, '0 days');
    expect((await admin.send('DELETE', path('hugo', 'hold'))).status).toBe(204);
    expect((await admin.send('DELETE', path('hugo', 'hold'))).status).toBe(204);
  });

  it('leaves decisions that can be repeated after its end, by position and by time', async () => {
    await recordAnswers(shop, 'hedda', { [letter]: ['accepted'] });
    type Decision = { reason: string; asOf: string; position: number };
    const decide = async (at: Partial<Decision> = {}) => {
      const question = { element: 'processing.001', ...at };
      const body = { subject: 'hedda', questions: [question] };
      const [decision] = (await json<{ decisions: Decision[] }>(shop.send('POST', '/decisions', body)))
        .decisions;
      return decision as Decision;
    };
    const taken = [await decide()];
    for (const restrict of [true, false, true]) {
      expect((await hold('hedda', { reason: 'Claim 12', restrict })).status).toBe(200);
      taken.push(await decide());
    }
    expect((await admin.send('DELETE', path('hedda', 'hold'))).status).toBe(204);
    taken.push(await decide());
    const reasons = ['GIVEN', 'RESTRICTED', 'GIVEN', 'RESTRICTED', 'GIVEN'];
    expect(taken.map(({ reason }) => reason)).toEqual(reasons);
    for (const { reason, asOf, position } of taken) {
      expect(await decide({ asOf, position })).toMatchObject({ reason, position });
      expect(await decide({ position })).toMatchObject({ reason, position });
      expect((await decide({ asOf })).reason).toBe(reason);
    }
  });

  it('is refused without a reason, with a past end, and for nobody', async () => {
    await recordAnswers(shop, 'hanna', { [letter]: ['accepted'] });
    const bodies = [
      {},
      { reason: ' ' },
      { reason: 'x'.repeat(1001) },
      { reason: 'x', until: 'soon' },
      { reason: 'x', until: '2020-01-01T00:00:00Z' },
    ];
    for (const body of bodies) expect([400, 422]).toContain((await hold('hanna', body)).status);
    expect((await hold('nobody at all', { reason: 'x' })).status).toBe(404);
    expect((await admin.send('POST', path('nobody at all', 'erasure'))).status).toBe(404);
    expect((await shop.send('PUT', path('hanna', 'hold'), { reason: 'x' })).status).toBe(403);
    expect((await operator.send('POST', path('hanna', 'erasure'))).status).toBe(403);
  });
});

describe('a request for erasure', () => {
  const decide = (id: string, body: object) => admin.send('PUT', `/erasures/${id}/status`, body);

  it('by the person waits for an administrator, who may refuse it with a ground', async () => {
    await recordAnswers(shop, 'user', { [letter]: ['accepted'] });
    const ask = () => json<Erasure>(user.send('POST', '/choices/erasure', { reason: 'I have moved' }));
    const asked = await ask();
    expect(asked).toMatchObject({ state: 'REQUESTED', reason: 'I have moved' });
    expect((await ask()).id).toBe(asked.id);
    expect((await decide(asked.id, { status: 'REFUSED' })).status).toBe(422);
    const refused = await json<Erasure>(decide(asked.id, { status: 'REFUSED', ground: 'Kept by law' }));
    expect(refused).toMatchObject({ state: 'REFUSED', ground: 'Kept by law' });
    expect(refused.reason).toBeUndefined();
    expect((await problemOf(await decide(asked.id, { status: 'RUNNING' }))).type).toMatch(/wrong-state$/);
    expect(await reasonOf('user')).toBe('GIVEN');
    const again = await ask();
    expect(again.id).not.toBe(asked.id);
    expect((await decide(again.id, { status: 'RUNNING' })).status).toBe(200);
    await reach(again.id, 'DONE');
    expect((await decide(again.id, { status: 'RUNNING' })).status).toBe(200);
    const list = await json<Erasure[]>(operator.get('/erasures?limit=1'));
    expect(list.map(({ id }) => id)).toEqual([again.id]);
    const lines = await operator.get('/erasures', { Accept: 'application/x-ndjson' });
    const repeatable = (await lines.text()).split('\n').flatMap((line) => (line ? JSON.parse(line) : []));
    expect(repeatable.map(({ id }: Erasure) => id)).toContain(again.id);
    expect(repeatable.map(({ id }: Erasure) => id)).not.toContain(asked.id);
    expect((await decide('5sVdYk2pQxWm4tYv9LsRb2', { status: 'RUNNING' })).status).toBe(404);
    expect((await shop.send('POST', '/choices/erasure')).status).toBe(403);
  });
});

it('the digest of an erased name is kept as long as backups, and is then in no list that repeats erasures', async () => {
  const repeatable = async () => {
    const lines = (await (await operator.get('/erasures', { Accept: 'application/x-ndjson' })).text()).trim();
    return lines.split('\n').map((line) => (JSON.parse(line) as Erasure).id);
  };
  const eraseNew = async (subject: string) => {
    await recordAnswers(shop, subject, { [letter]: ['accepted'] });
    return (await erase(subject)).id;
  };
  const first = await eraseNew('dagmar');
  onTestFinished(() => letTimePass(instance, '0 days'));
  await letTimePass(instance, '34 days');
  const second = await eraseNew('daria');
  expect(await repeatable()).toEqual(expect.arrayContaining([first, second]));
  await letTimePass(instance, '36 days');
  await eraseNew('delia');
  await vi.waitFor(async () => expect(await repeatable()).not.toContain(first), { timeout: 20_000 });
  expect(await repeatable()).toContain(second);
  expect(await erasureOf(first)).toMatchObject({ state: 'DONE' });
  const kept = await rowsOf(
    instance,
    'SELECT id FROM transactions.erasures WHERE id = $1 AND digest IS NULL',
    [first],
  );
  expect(kept).toHaveLength(1);
});
