import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { leafOf, type SealedLine } from '#lib/audit/leaf.ts';
import { appendLeaf, emptyFrontier } from '#lib/audit/merkle-tree.ts';
import { startKillableInstance } from '../support/instances/killable-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

/** Submissions that race with the kill; `AUDIT_KILLED=2000` is a longer run. */
const submissions = Number(process.env.AUDIT_KILLED ?? 60);

it('after kill -9 while receipts are signed and sealed, every receipt has one line, and the tree fits', async () => {
  const { database: databaseUrl, shop, kill, startAgain } = await startKillableInstance();
  const subject = () => `killed-${randomUUID()}`;
  const submitAll = (count: number) =>
    Promise.allSettled(
      Array.from({ length: count }, () => recordAnswers(shop, subject(), { [letter]: ['accepted'] })),
    );
  await submitAll(10);
  const racing = submitAll(submissions);
  // The first lines have been sealed, and more receipts come.
  await until(async () => {
    const [tree] = await rowsOf<{ size: string }>(
      { databaseUrl },
      'SELECT size FROM transactions.audit_tree',
    );
    expect(Number(tree?.size)).toBeGreaterThan(0);
  });
  await kill();
  await racing;
  await startAgain();
  await submitAll(5);

  const lines = await until(async () => {
    const found = await rowsOf<SealedLine & { time: Date; leafHash: string }>(
      { databaseUrl },
      `SELECT l.seq::int AS seq, l.id, l.at AS time, l.actor, l.actor_kind AS "actorKind", l.action, l.target,
              encode(l.digest, 'hex') AS digest, l.request, encode(l.leaf, 'hex') AS "leafHash"
         FROM transactions.audit_log AS l ORDER BY l.seq`,
    );
    const receipts = await rowsOf<{ transaction: string; digest: string }>(
      { databaseUrl },
      `SELECT r.transaction, encode(sha256(convert_to(r.jws, 'UTF8')), 'hex') AS digest
         FROM transactions.receipts AS r`,
    );
    expect(receipts.length).toBeGreaterThanOrEqual(15);
    const logged = found.filter(({ action }) => action === 'receipt.signed');
    expect(logged.map(({ target, digest }) => `${target} ${digest}`).sort()).toEqual(
      receipts.map(({ transaction, digest }) => `transaction/${transaction} ${digest}`).sort(),
    );
    return found;
  });
  const tree = emptyFrontier();
  for (const { time, leafHash, request, ...line } of lines) {
    expect(line.seq).toBe(tree.size);
    const leaf = leafOf({ ...line, at: time.toISOString(), request: request ?? undefined });
    expect(leaf.toString('hex')).toBe(leafHash);
    appendLeaf(tree, leaf);
  }
  const [stored] = await rowsOf<{ size: string; frontier: Buffer }>(
    { databaseUrl },
    'SELECT size, frontier FROM transactions.audit_tree',
  );
  expect(stored).toEqual({ size: String(lines.length), frontier: Buffer.concat(tree.hashes) });
});
