import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { reapplyErasures } from '../../services/transactions/erasure/reapply.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));

let db: Database;
let close: () => Promise<void>;
beforeAll(() => {
  const log = createLogger({ level: 'silent' });
  const pool = createPool({ url: instance.databaseUrl, schema: 'transactions', log });
  db = createDatabase({ pool });
  close = () => pool.end();
});
afterAll(() => close?.());

const reference = '0197a1f3-2b40-7c5d-8e61-9a0b1c2d3e4f';
const digest = Buffer.alloc(32, 7).toString('base64url');
/** Repeats erasures of one person, as the command does after a restore. */
const reapply = (subject: string, lines: object[]) => {
  const all = (name: string) => (name === subject ? [Buffer.from(digest, 'base64url')] : []);
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  return reapplyErasures(db, { make: () => Buffer.alloc(32), all }, text);
};
const consent = async (subject: string, object: string) =>
  (await recordAnswers(shop, subject, { [letter]: ['accepted'] }, { object })).id;
const now = async () => {
  const text = `to_char(transactions.accord_now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
  const [row] = await rowsOf<{ now: string }>(instance, `SELECT ${text} AS now`);
  return row?.now as string;
};
const erasures = () =>
  rowsOf<{ id: string; state: string; subject: string | null }>(
    instance,
    `SELECT id, state, subject, started_at, ended_at, counts, peers FROM transactions.erasures
      WHERE reference = $1 ORDER BY id`,
    [reference],
  );
const erased = async (ids: string[]) =>
  (
    await rowsOf<{ id: string }>(
      instance,
      'SELECT id FROM transactions.transactions WHERE id = ANY($1) AND erased_at IS NOT NULL',
      [ids],
    )
  ).map(({ id }) => id);
const started = () =>
  rowsOf(instance, `SELECT FROM transactions.audit_log WHERE action = 'erasure.started' AND target = $1`, [
    `subject/${reference}`,
  ]);

/** Another erasure wakes the job, which looks for all of them. */
async function wake() {
  await consent('another person', '');
  expect((await admin.send('POST', '/subjects/another%20person/erasure')).status).toBe(202);
}

describe('after a restore', () => {
  const subject = 'erased twice';
  // The later erasure has the smaller id.
  const [first, second, kept] = ['z'.repeat(22), '2'.repeat(22), '3'.repeat(22)];
  const lines: object[] = [];
  const made: string[] = [];

  it('two erasures of one person erase all that was there before the later one, and no notice is lost', async () => {
    const line = async (id: string | undefined) => {
      const at = await now();
      lines.unshift({ id, subject: reference, digest, created: at, started: at });
    };
    made.push(await consent(subject, 'before both'));
    await line(first);
    made.push(await consent(subject, 'between them'));
    await line(second);
    made.push(await consent(subject, 'after both'));
    // The backup has an open erasure of the person, of which an organisation was told.
    await runInDatabase(
      instance,
      `INSERT INTO transactions.erasures
         (id, reference, subject, digest, state, peers, created_at, due_at, started_at)
       VALUES ($1, $2, $3, $4, 'HELD', '[{"name": "Lab", "location": "https://lab.example"}]',
               now(), now(), now() - interval '1 day')`,
      [kept, reference, subject, Buffer.from(digest, 'base64url')],
    );
    await runInDatabase(
      instance,
      `INSERT INTO transactions.notices (erasure, recipient, kind, name, state, version, since, created_at)
       VALUES ($1, 'webhook', 'RECIPIENT', 'Letters Ltd', 'DELIVERED', 1, now(), now())`,
      [kept],
    );
    expect(await reapply(subject, lines)).toEqual({ read: 2, found: 1 });
    await wake();
    await until(async () =>
      expect(await erasures()).toMatchObject([
        { id: second, state: 'DONE', counts: { transactions: 2 } },
        { id: kept, state: 'DONE', peers: [{ name: 'Lab' }] },
        { id: first, state: 'DONE' },
      ]),
    );
    expect((await erased(made)).toSorted()).toEqual(made.slice(0, 2).toSorted());
    expect(await rowsOf(instance, 'SELECT FROM transactions.notices')).toHaveLength(1);
  });

  it('the list of erasures names them by their start, oldest first', async () => {
    const list = await (await admin.get('/erasures', { Accept: 'application/x-ndjson' })).text();
    const ids = list.split('\n').flatMap((line) => (line ? (JSON.parse(line) as { id: string }).id : []));
    expect(ids.slice(0, 3)).toEqual([kept, first, second]);
  });

  it('repeating them again leaves a person who has come back, also under a hold', async () => {
    const hold = { reason: 'A dispute' };
    const path = `/subjects/${encodeURIComponent(subject)}/hold`;
    expect((await admin.send('PUT', path, hold)).status).toBe(200);
    made.push(await consent(subject, 'come back'));
    const before = { erasures: await erasures(), started: await started() };
    for (const _ of ['once', 'again']) expect(await reapply(subject, lines)).toEqual({ read: 2, found: 0 });
    expect({ erasures: await erasures(), started: await started() }).toEqual(before);
    expect(await erased(made)).toHaveLength(2);
  });

  it('an erasure that is under way is not started anew', async () => {
    const other = 'erased once';
    const at = await consent(other, 'here').then(now);
    const line = { id: '4'.repeat(22), subject: reference, digest, created: at, started: at };
    const hold = { reason: 'A dispute' };
    expect((await admin.send('PUT', `/subjects/${encodeURIComponent(other)}/hold`, hold)).status).toBe(200);
    const begun = (await started()).length;
    for (const _ of ['once', 'again']) expect(await reapply(other, [line])).toEqual({ read: 1, found: 1 });
    expect(await started()).toHaveLength(begun + 1);
  });

  it('what a peer asked to be erased is erased once, and what others collected stays', async () => {
    const other = 'erased for a peer';
    const ours = await consent(other, 'ours');
    const theirs = await consent(other, 'sent by a peer');
    await runInDatabase(
      instance,
      `UPDATE transactions.transactions SET leader = '{"id": "x", "location": "https://lab.example"}' WHERE id = $1`,
      [theirs],
    );
    const at = await now();
    const times = { created: at, started: at };
    const line = { id: '5'.repeat(22), subject: reference, digest, peer: 'https://lab.example', ...times };
    expect(await reapply(other, [line])).toEqual({ read: 1, found: 1 });
    await wake();
    await until(async () => expect(await erased([ours, theirs])).toEqual([theirs]));
    await until(async () =>
      expect((await erasures()).find(({ id }) => id === line.id)).toMatchObject({ state: 'DONE' }),
    );
    expect(await reapply(other, [line])).toEqual({ read: 1, found: 0 });
  });
});
