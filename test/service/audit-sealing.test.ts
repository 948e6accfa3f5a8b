import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { leafOf, type SealedLine } from '#lib/audit/leaf.ts';
import { appendLeaf, emptyFrontier, rootOf } from '#lib/audit/merkle-tree.ts';
import { recordAction } from '#lib/audit/record-action.ts';
import { readHead, sealLines } from '#lib/audit/seal-lines.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';

const log = createLogger({ level: 'silent' });
let database: TestDatabase;
let db: Database;
let other: Database;
const pools: ReturnType<typeof createPool>[] = [];
const open = () => {
  const pool = createPool({ url: database.url, schema: 'webhooks', log });
  pools.push(pool);
  return createDatabase({ pool });
};
beforeAll(async () => {
  database = await createTestDatabase();
  [db, other] = [open(), open()];
});
afterAll(async () => {
  for (const pool of pools) await pool.end();
  await database.drop();
});
let before = 0;
beforeEach(async () => {
  before = (await readHead(db)).size;
});

const record = (tx: Pick<Database, 'query' | 'one' | 'maybeOne'> = db) =>
  recordAction(tx, { action: 'webhook.created', target: `webhook/${randomUUID()}` }, 'user:jane');
const seal = (by = db) => sealLines(by);

/** The lines as the API shows them, in the order of the tree. */
const readSealed = async () => {
  const rows = await db.query<SealedLine & { leaf: Buffer; time: Date }>(sql`
    SELECT l.seq::int AS seq, l.id, l.at AS time, l.actor, l.actor_kind AS "actorKind", l.action, l.target,
           l.leaf FROM audit_log AS l WHERE l.seq IS NOT NULL ORDER BY l.seq`);
  return rows.map((row) => ({ ...row, at: row.time.toISOString() }));
};

async function expectTree(): Promise<void> {
  const lines = await readSealed();
  expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_line, index) => index));
  const tree = emptyFrontier();
  for (const line of lines) {
    expect(line.leaf).toEqual(leafOf(line));
    appendLeaf(tree, line.leaf);
  }
  expect(await readHead(db)).toEqual({ size: lines.length, root: rootOf(tree).toString('hex') });
}

it('opens no transaction while there is nothing to seal', async () => {
  await seal();
  const transactions = vi.spyOn(db, 'withTransaction');
  expect(await seal()).toBeUndefined();
  expect(transactions).not.toHaveBeenCalled();
  await record();
  expect(await seal()).toBeDefined();
  expect(transactions).toHaveBeenCalled();
  transactions.mockRestore();
});

it('numbers the lines without gaps, and its head is the root of their leaves', async () => {
  for (let line = 0; line < 5; line += 1) await record();
  expect((await seal())?.size).toBe(before + 5);
  expect(await seal()).toBeUndefined();
  await expectTree();
});

it('leaves out a line that is not committed, and numbers it after those that were committed before', async () => {
  let finish = () => {};
  const held = new Promise<void>((done) => {
    finish = done;
  });
  let written = () => {};
  const isWritten = new Promise<void>((done) => {
    written = done;
  });
  const slow = db.withTransaction(async (tx) => {
    await record(tx);
    written();
    await held;
  });
  await isWritten;
  await record();
  expect((await seal())?.size).toBe(before + 1);
  finish();
  await slow;
  expect((await seal())?.size).toBe(before + 2);
  await expectTree();
});

it('never gives a number twice while several sealers and writers run', async () => {
  const writers = Array.from({ length: 60 }, async (_, index) => {
    if (index % 5 > 0) return record();
    // Rolled back: its line must not leave a gap.
    const failing = db.withTransaction(async (tx) => {
      await record(tx);
      throw new Error('rolled back');
    });
    await failing.catch(() => {});
  });
  const sealers = [db, other, db, other].map(async (by) => {
    for (let turn = 0; turn < 10; turn += 1) await seal(by);
  });
  await Promise.all([...writers, ...sealers]);
  await seal();
  expect((await readHead(db)).size).toBe(before + 48);
  await expectTree();
});

it('keeps tree and numbers together if the sealer fails', async () => {
  await record();
  await db.query(sql`ALTER TABLE audit_tree ADD CONSTRAINT no_more CHECK (size < 0) NOT VALID`);
  onTestFinished(
    async () => void (await db.query(sql`ALTER TABLE audit_tree DROP CONSTRAINT IF EXISTS no_more`)),
  );
  await expect(seal()).rejects.toThrow('no_more');
  await expectTree();
  await db.query(sql`ALTER TABLE audit_tree DROP CONSTRAINT no_more`);
  expect((await seal())?.size).toBe(before + 1);
  await expectTree();
});

it.each([
  ['deleted', sql`DELETE FROM audit_log WHERE seq = 0`],
  ['changed', sql`UPDATE audit_log SET actor = 'nobody' WHERE seq = 0`],
  ['blanked in part', sql`UPDATE audit_log SET actor = NULL WHERE seq = 0`],
  ['moved', sql`UPDATE audit_log SET seq = 1000000 WHERE seq = 0`],
  ['given another hash', sql`UPDATE audit_log SET leaf = sha256('') WHERE seq = 0`],
])('a sealed line cannot be %s', async (_name, statement) => {
  await record();
  await seal();
  await expect(db.query(statement)).rejects.toThrow('cannot be changed');
});
