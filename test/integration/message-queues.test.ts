import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type Database, type Queries } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createDestinationDigests } from '../../services/transactions/messages/message.ts';
import {
  deleteEmptyQueues,
  insertMessage,
  waitingMessages,
} from '../../services/transactions/messages/store.ts';
import { mailDestination } from '../../services/transactions/transaction/destination.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

const { addressOf, queueOf } = createDestinationDigests([Buffer.alloc(32, 7)]);
const destinationOf = (address: string) => {
  const destination = mailDestination(address);
  if (!destination) throw new Error(`no address: ${address}`);
  return destination;
};

let db: Database;
let end: () => Promise<void>;
beforeAll(async () => {
  const database = await createTestDatabase();
  const log = createLogger({ level: 'silent' });
  const pool = createPool({ url: database.url, schema: 'transactions', log });
  db = createDatabase({ pool });
  // Messages here belong to no transaction.
  await db.query(sql`ALTER TABLE messages DROP CONSTRAINT messages_transaction_fkey`);
  end = async () => {
    await pool.end();
    await database.drop();
  };
});
afterAll(() => end());
beforeEach(async () => {
  await db.query(sql`DELETE FROM messages`);
  await db.query(sql`DELETE FROM message_queues`);
});

function send(queries: Queries, address: string) {
  const destination = destinationOf(address);
  return insertMessage(queries, {
    id: randomUUID(),
    transaction: 'none',
    kind: 'invitation',
    destination,
    queue: queueOf(destination),
    address: addressOf(destination),
    code: null,
    sealed: Buffer.from('sealed'),
    error: null,
  });
}
const finish = (id: string) =>
  db.query(sql`
    UPDATE messages SET state = 'SENT', sealed = NULL, sent_at = accord_now() WHERE id = ${id}`);
const sweep = () => db.withTransaction((tx) => deleteEmptyQueues(tx, 500));
const countQueues = async () =>
  (await db.one<{ count: number }>(sql`SELECT count(*)::int AS count FROM message_queues`)).count;
const countStranded = async () =>
  (
    await db.one<{ count: number }>(sql`
      SELECT count(*)::int AS count FROM messages AS m
       WHERE m.state = 'PENDING' AND NOT EXISTS (SELECT FROM message_queues AS q WHERE q.name = m.queue)`)
  ).count;

describe('queues of mail domains', () => {
  it('are told apart by the whole domain, in every spelling, and do not contain it', () => {
    const names = Array.from({ length: 5_000 }, (_, index) =>
      queueOf(destinationOf(`ann@domain${index}.example`)),
    );
    expect(new Set(names).size).toBe(5_000);
    const [upper, other] = [destinationOf('ann@ORG.example'), destinationOf('bob@org.example')];
    expect(queueOf(upper)).toBe(queueOf(other));
    // People wait for codes, which wait for no invitations and notifications.
    expect(queueOf(upper, 'code')).not.toBe(queueOf(upper, 'invitation'));
    expect(queueOf(upper, 'code')).toBe(queueOf(other, 'code'));
    expect(queueOf(upper)).not.toMatch(/org|example|ann/i);
    const foreign = createDestinationDigests([Buffer.alloc(32, 8)]);
    expect(foreign.queueOf(upper)).not.toBe(queueOf(upper));
  });

  it('are deleted when no message is pending, and not before', async () => {
    const first = await send(db, 'ann@a.example');
    const second = await send(db, 'bob@a.example');
    await finish(first.id);
    await sweep();
    expect(await countQueues()).toBe(1);
    await finish(second.id);
    await sweep();
    expect(await countQueues()).toBe(0);
  });

  it('are kept while a process has the lease, and never repeat a fence', async () => {
    const { id } = await send(db, 'ann@a.example');
    await finish(id);
    await db.query(sql`
      UPDATE message_queues SET fence = fence + 1, lease_owner = gen_random_uuid(),
                                lease_until = now() + interval '25 seconds'`);
    const before = await db.one<{ fence: number }>(sql`SELECT fence FROM message_queues`);
    await sweep();
    expect(await countQueues()).toBe(1);
    await db.query(sql`UPDATE message_queues SET lease_owner = NULL, lease_until = NULL`);
    await sweep();
    await send(db, 'ann@a.example');
    const after = await db.one<{ fence: number }>(sql`SELECT fence FROM message_queues`);
    expect(after.fence).toBeGreaterThan(before.fence);
  });

  it('of mail domains only; that of text messages stays', async () => {
    await db.query(sql`INSERT INTO message_queues (name) VALUES ('sms')`);
    await sweep();
    expect(await countQueues()).toBe(1);
  });

  it('are not deleted while a request stores a message, and the request does not wait', async () => {
    const { id } = await send(db, 'ann@a.example');
    await finish(id);
    await db.withTransaction(async (tx) => {
      await send(tx, 'bob@a.example');
      await sweep();
    });
    expect([await countQueues(), await countStranded()]).toEqual([1, 0]);
  });

  it('are created again if they are deleted while a request waits for them', async () => {
    const { id } = await send(db, 'ann@a.example');
    await finish(id);
    let sending: Promise<unknown> = Promise.resolve();
    await db.withTransaction(async (tx) => {
      await deleteEmptyQueues(tx, 500);
      sending = send(db, 'bob@a.example');
      await expect
        .poll(() =>
          db.query(sql`
            SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
        )
        .toHaveLength(1);
    });
    await sending;
    expect([await countQueues(), await countStranded()]).toEqual([1, 0]);
  });

  it('are kept if a message was stored while empty queues were looked for', async () => {
    const { id } = await send(db, 'ann@a.example');
    await finish(id);
    // The search waits between its snapshot and the locks of the queues that it finds.
    await db.query(sql`
      CREATE FUNCTION pause() RETURNS boolean LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock_shared(42) IS NOT NULL $$`);
    await db.query(sql`ALTER TABLE messages RENAME TO stored_messages`);
    await db.query(sql`CREATE VIEW messages AS SELECT * FROM stored_messages WHERE (SELECT pause())`);
    let sweeping: Promise<unknown> = Promise.resolve();
    await db.withTransaction(async (tx) => {
      await tx.query(sql`SELECT pg_advisory_xact_lock(42)`);
      sweeping = sweep();
      await expect
        .poll(() =>
          db.query(sql`
            SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`),
        )
        .toHaveLength(1);
      await send(db, 'bob@a.example');
    });
    await sweeping;
    await db.query(sql`DROP VIEW messages`);
    await db.query(sql`ALTER TABLE stored_messages RENAME TO messages`);
    expect([await countQueues(), await countStranded()]).toEqual([1, 0]);
  });

  it('strand no message, whatever is deleted and stored at the same time', async () => {
    let isOver = false;
    const sweeping = Promise.all(
      Array.from({ length: 2 }, async () => {
        while (!isOver) await sweep();
      }),
    );
    let stranded = 0;
    await Promise.all(
      Array.from({ length: 6 }, async (_, index) => {
        for (let count = 0; count < 80; count += 1) {
          const address = `ann@d${(index + count) % 12}.example`;
          const { id } = await db.withTransaction((tx) => send(tx, address));
          const name = queueOf(destinationOf(address));
          const queue = await db.query(sql`SELECT FROM message_queues WHERE name = ${name}`);
          if (queue.length === 0) stranded += 1;
          await finish(id);
        }
      }),
    );
    isOver = true;
    await sweeping;
    expect(stranded).toBe(0);
    await sweep();
    expect(await countQueues()).toBe(0);
  });
});

it('the age of waiting messages counts from their creation, also while none is due', async () => {
  await send(db, 'ann@a.example');
  await db.query(sql`
    UPDATE messages SET created_at = accord_now() - interval '2 hours', not_before = accord_now() + interval '3 hours'`);
  const [mail, sms] = (await waitingMessages(db)).sort((a, b) => a.kind.localeCompare(b.kind));
  expect(mail).toMatchObject({ kind: 'mail', rows: 1, oldestSeconds: 0 });
  expect(mail?.unfinishedSeconds).toBeCloseTo(7_200, -2);
  expect(sms).toMatchObject({ kind: 'sms', rows: 0, oldestSeconds: 0, unfinishedSeconds: 0 });
});
