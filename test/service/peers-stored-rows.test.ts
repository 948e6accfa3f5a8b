import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { deleteOldVerdicts } from '../../services/transactions/received-parts/store.ts';
import { deleteOldOrders } from '../../services/transactions/standing/store.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { type OwnerInstance, startOwner } from '../support/instances/owner-instance.ts';
import { makePart, newPeer } from '../support/peers/peer-parts.ts';
import { until } from '../support/run/until.ts';

let lab: OwnerInstance;
let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  lab = await startOwner();
  await lab.share('processing.001');
  const pool = createPool({
    url: lab.databaseUrl,
    schema: 'transactions',
    log: createLogger({ level: 'silent' }),
  });
  db = createDatabase({ pool });
  close = () => pool.end();
}, 60_000);
afterAll(async () => {
  await close?.();
  await lab?.stop();
});

const rowsOfPeer = async ({ url }: { url: string }) =>
  (
    await rowsOf<{ sid: string }>(lab, 'SELECT sid FROM transactions.received_parts WHERE peer = $1', [url])
  ).map(({ sid }) => sid);
/** Stores `count` verdicts on parts of a peer; their ids have 22 characters. */
const fill = ({ url }: { url: string }, count: number, verdict: 'refused' | 'rolledback') =>
  runInDatabase(
    lab,
    `INSERT INTO transactions.received_parts (peer, sid, digest, verdict, reason, received_at, changed_at)
     SELECT $1, lpad(n::text, 22, 'x'), CASE $3 WHEN 'refused' THEN '\\x00'::bytea END, $3,
            CASE $3 WHEN 'refused' THEN 'seal' END, now(), now() FROM generate_series(1, $2::int) AS n`,
    [url, count, verdict],
  );
const decide = (peer: ReturnType<typeof newPeer>, sid = randomId()) =>
  lab.one.decideSubmission({ peer, sid, decision: 'rollback' });
const refusedPart = (peer: ReturnType<typeof newPeer>) =>
  makePart(lab, { peer, header: { leader: 'https://x.example' } });

describe('verdicts without a transaction', () => {
  it('are limited to 4,000 decisions per peer about parts that never arrived; further ones are answered, not stored', async () => {
    const [peer, other] = [newPeer(), newPeer()];
    await fill(peer, 3_999, 'rolledback');
    for (const _ of [1, 2, 3]) expect(await decide(peer)).toEqual({ verdict: 'rolledback' });
    expect(await rowsOfPeer(peer)).toHaveLength(4_000);
    expect(await decide(other)).toEqual({ verdict: 'rolledback' });
    expect(await rowsOfPeer(other)).toHaveLength(1);
  });

  it('do not prevent the decision about a held part', async () => {
    const peer = newPeer();
    await fill(peer, 4_000, 'rolledback');
    const part = await makePart(lab, { peer, submission: { mode: 'hold' } });
    expect(await lab.one.acceptSubmission(part)).toMatchObject({ verdict: 'held' });
    expect(await lab.one.decideSubmission({ peer, sid: part.sid, decision: 'commit' })).toMatchObject({
      verdict: 'committed',
    });
  });

  it('are limited to 10,000 refusals per peer; a further part that would be refused gets `unavailable`', async () => {
    const [peer, other] = [newPeer(), newPeer()];
    await fill(peer, 10_000, 'refused');
    await expect(lab.one.acceptSubmission(await refusedPart(peer))).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(await rowsOfPeer(peer)).toHaveLength(10_000);
    expect(await lab.one.acceptSubmission(await makePart(lab, { peer }))).toMatchObject({
      verdict: 'committed',
    });
    expect(await lab.one.acceptSubmission(await refusedPart(other))).toMatchObject({ verdict: 'refused' });
  });

  it('are deleted after 31 days if the part was refused, and after 122 if it has not arrived; verdicts with a transaction stay', async () => {
    const peer = newPeer();
    const sid = randomId();
    expect(await lab.one.withdrawSubmission({ peer, sid })).toEqual({ verdict: 'withdrawn' });
    await decide(peer);
    await lab.one.acceptSubmission(await refusedPart(peer));
    const taken = await makePart(lab, { peer });
    await lab.one.acceptSubmission(taken);
    const age = (days: number) =>
      runInDatabase(
        lab,
        `UPDATE transactions.received_parts SET changed_at = now() - make_interval(days => $2) WHERE peer = $1`,
        [peer.url, days],
      );
    await age(30);
    await deleteOldVerdicts(db, 1_000);
    expect(await rowsOfPeer(peer)).toHaveLength(4);
    await age(32);
    expect(await deleteOldVerdicts(db, 1_000)).toBe(1);
    // 90 days for the code, and 30 for the delivery.
    await age(121);
    await deleteOldVerdicts(db, 1_000);
    const late = await makePart(lab, { peer, sid });
    expect(await lab.one.acceptSubmission(late)).toEqual({ verdict: 'refused', reason: 'decided' });
    await age(123);
    expect(await deleteOldVerdicts(db, 1)).toBe(1);
    await deleteOldVerdicts(db, 1_000);
    expect(await rowsOfPeer(peer)).toEqual([taken.sid]);
  });
});

describe('orders of leaders to withdraw a part', () => {
  const ordersOf = ({ url }: { url: string }) =>
    rowsOf(lab, 'SELECT FROM transactions.leader_orders WHERE source = $1', [url]);

  /** A part whose person has withdrawn at the leader. */
  async function withdrawn() {
    const part = await makePart(lab);
    const { peer, sid, submission } = part;
    await lab.one.acceptSubmission(part);
    const order = { peer, sid, withdrawn: new Date().toISOString() };
    expect(await lab.one.withdrawSubmission(order)).toMatchObject({ verdict: 'withdrawn' });
    expect((await ordersOf(peer)).length).toBeGreaterThan(0);
    return { peer, subject: submission.subject };
  }

  it('are kept once for each question, and for 122 days', async () => {
    const { peer, subject } = await withdrawn();
    const kept = await ordersOf(peer);
    const again = await makePart(lab, { peer, submission: { subject } });
    await lab.one.acceptSubmission(again);
    await lab.one.withdrawSubmission({ peer, sid: again.sid, withdrawn: new Date().toISOString() });
    expect(await ordersOf(peer)).toHaveLength(kept.length);
    const age = (days: number) =>
      runInDatabase(
        lab,
        'UPDATE transactions.leader_orders SET withdrawn_at = now() - make_interval(days => $2) WHERE source = $1',
        [peer.url, days],
      );
    await age(121);
    await deleteOldOrders(db, 1_000);
    expect(await ordersOf(peer)).toHaveLength(kept.length);
    await age(123);
    expect(await deleteOldOrders(db, 1)).toBe(1);
    await deleteOldOrders(db, 1_000);
    expect(await ordersOf(peer)).toEqual([]);
  });

  it('end with the erasure of their person', async () => {
    const { peer, subject } = await withdrawn();
    expect((await lab.admin.send('POST', `/subjects/${encodeURIComponent(subject)}/erasure`)).status).toBe(
      202,
    );
    await until(async () => expect(await ordersOf(peer)).toEqual([]));
  });
});
