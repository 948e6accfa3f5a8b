import type { MessageKind } from '#lib/contracts/messages.ts';
import type { Queries } from '#lib/db/database.ts';
import type { Statement } from '#lib/db/sql.ts';
import { sql } from '#lib/db/sql.ts';
import type { Settlement } from '#lib/deliveries/delivery-kind.ts';
import type { Destination } from '../transaction/destination.ts';
import { insertEvents } from '../transaction/events.ts';
import type { Message } from './message.ts';

const columns = sql`m.id, m.kind, m.channel, m.destination, m.state, m.attempts, m.error,
  m.created_at AS "createdAt", m.sent_at AS "sentAt"`;

/** Messages of a transaction, newest first. */
export function listMessages(db: Queries, transaction: string): Promise<Message[]> {
  return db.query<Message>(sql`
    SELECT ${columns} FROM messages AS m WHERE m.transaction = ${transaction}
     ORDER BY m.created_at DESC, m.id DESC LIMIT 1000`);
}

/** A message to be stored. */
export interface NewMessage {
  id: string;
  transaction: string | null;
  kind: MessageKind;
  destination: Destination;
  /** Queue of the delivery engine. */
  queue: string;
  /** Keyed digest of the address. */
  address: Buffer;
  /** Who causes it (`creatorOf`); null, stored as '': not known. */
  causedBy?: string | null;
  /** Number of the code that it carries; null without one. */
  code: number | null;
  /** Encrypted {@link MessageSecrets}; null if it failed already. */
  sealed: Buffer | null;
  /** Set if it failed already. */
  error: string | null;
  /** Whether it waits until an hourly limit allows it ({@link releaseWaiting}). */
  waits?: boolean;
}

/**
 * Locks a transaction as shared, so that its erasure either finds a message that is being stored, or is over.
 * @returns whether it has been erased.
 */
export async function isErased(tx: Queries, transaction: string): Promise<boolean> {
  const read = await tx.maybeOne<{ erased: boolean }>(sql`
    SELECT t.erased_at IS NOT NULL AS erased FROM transactions AS t WHERE t.id = ${transaction} FOR SHARE`);
  return read?.erased ?? false;
}

/**
 * Stores a message, which the delivery engine sends after the COMMIT. Locks its queue until then, as a
 * foreign key would, so that {@link deleteEmptyQueues} does not delete it.
 */
export async function insertMessage(tx: Queries, message: NewMessage): Promise<Message> {
  const { destination: to, queue, sealed, causedBy, waits = false } = message;
  const [notBefore, error] = waits ? [sql`'infinity'`, 'hourly-limit'] : [sql`accord_now()`, message.error];
  const countedAt = sealed === null ? sql`'-infinity'` : notBefore;
  const insert = sql`
    INSERT INTO messages AS m (id, transaction, kind, channel, queue, destination, address, prefix, created_by,
                               code, sealed, state, not_before, counted_at, error, created_at)
    SELECT ${message.id}::uuid, ${message.transaction}::text, ${message.kind}, ${to.channel}, q.name, ${to.masked},
           ${message.address}::bytea, ${to.prefix}, ${causedBy ?? ''}, ${message.code}::integer,
           ${sealed}::bytea, ${sealed === null ? 'FAILED' : 'PENDING'}, ${notBefore}::timestamptz,
           ${countedAt}::timestamptz, ${error}, accord_now()
      FROM message_queues AS q WHERE q.name = ${queue} FOR KEY SHARE OF q
    RETURNING ${columns}`;
  const [stored] = await tx.query<Message>(insert);
  if (stored) return stored;
  // PostgreSQL's transaction ids only grow, so a queue that is created again never repeats a fence. The queue
  // may exist by now, or be deleted again before it is locked; hence the repetition.
  await tx.query(sql`
    INSERT INTO message_queues (name, fence) VALUES (${queue}, pg_current_xact_id()::text::bigint)
    ON CONFLICT DO NOTHING`);
  return insertMessage(tx, message);
}

const isEmpty = sql`
  NOT EXISTS (SELECT FROM messages AS m WHERE m.queue = q.name AND m.state = 'PENDING')`;

/**
 * Deletes queues of mail domains without pending messages and without a lease. The one of the SMS gateway is
 * kept.
 * @returns how many were found; deleted are those that are still empty once they are locked.
 */
export async function deleteEmptyQueues(tx: Queries, limit: number): Promise<number> {
  const found = await tx.query<{ name: string }>(sql`
    SELECT q.name FROM message_queues AS q
     WHERE q.name LIKE 'domain %' AND (q.lease_until IS NULL OR q.lease_until < now()) AND ${isEmpty}
     LIMIT ${limit} FOR UPDATE SKIP LOCKED`);
  // A request may have stored a message after the snapshot of the first statement. The second sees it.
  await tx.query(sql`
    DELETE FROM message_queues AS q WHERE q.name = ANY(${found.map(({ name }) => name)}::text[]) AND ${isEmpty}`);
  return found.length;
}

/**
 * Deletes messages with links to choices that no limit counts any more. @returns how many, at most `limit`.
 */
export async function deleteOldChoicesMessages(db: Queries, limit: number): Promise<number> {
  const deleted = await db.query(sql`
    DELETE FROM messages AS m WHERE m.id IN (
      SELECT o.id FROM messages AS o
       WHERE o.kind = 'choices' AND o.created_at < accord_now() - interval '1 day' AND o.state <> 'PENDING'
       ORDER BY o.created_at LIMIT ${limit})
    RETURNING m.id`);
  return deleted.length;
}

/** Tables and conditions for the delivery engine (docs/adr/0020-one-delivery-engine.md). */
export const messageTables = {
  targets: sql`message_queues`,
  targetKey: sql`t.name`,
  targetKeyType: sql`text`,
  ready: sql`true`,
  generation: sql`''`,
  rows: sql`messages`,
  rowKey: sql`d.id`,
  rowKeyType: sql`uuid`,
  rowTarget: sql`d.queue`,
  due: sql`d.state = 'PENDING' AND d.not_before <= accord_now()`,
  columns: sql`
    d.id, d.transaction, d.kind, d.channel, d.sealed, d.attempts, d.destination, d.code,
    (SELECT c.number FROM codes AS c JOIN transactions AS t ON t.id = c.transaction
      WHERE c.transaction = d.transaction AND c.used_at IS NULL AND c.expires_at > accord_now()
        AND t.state = 'SUBMITTED' AND t.awaits_code AND t.expires_at > accord_now()) AS "validCode"`,
};

/** What is recorded of an attempt; `error` is an error class such as `smtp-550`. */
export interface MessageFacts {
  error: string | null;
  /** Whether other messages of the queue would fail, too. */
  isAway?: boolean;
}

const states = {
  done: 'SENT',
  obsolete: 'EXPIRED',
  refused: 'FAILED',
  gone: 'FAILED',
  expired: 'FAILED',
} as const;

/**
 * Records attempts. For a message that has ended, erases address, sender and code; if it was sent or has
 * failed, writes its event.
 */
export async function recordAttempts(
  tx: Queries,
  settlements: readonly Settlement<{ id: string }, MessageFacts>[],
  source: string,
): Promise<void> {
  const given = settlements.map(({ row, ending, facts, waitMs }) => ({
    id: row.id,
    state: ending === 'retry' ? 'PENDING' : states[ending],
    failed: ending !== 'done' && ending !== 'obsolete',
    error: facts.error,
    waitMs,
  }));
  await tx.query(sql`
    WITH given AS (
      SELECT g.* FROM jsonb_to_recordset(${JSON.stringify(given)}::jsonb)
          AS g (id uuid, state text, failed boolean, error text, "waitMs" float8)
    ), m AS (
      UPDATE messages AS m
         SET state = g.state, attempts = m.attempts + g.failed::int, error = g.error,
             sealed = CASE WHEN g.state = 'PENDING' THEN m.sealed END,
             sent_at = CASE WHEN g.state = 'SENT' THEN accord_now() END,
             not_before = accord_now() + g."waitMs" * interval '1 millisecond'
        FROM given AS g WHERE m.id = g.id AND m.state = 'PENDING'
      RETURNING m.*
    )${messageEvents(source)}`);
}

/**
 * For metrics: pending messages by channel (up to 100,000) and, of those, how long the oldest due one has
 * been due, and the time since the oldest was created.
 */
export function waitingMessages(
  db: Queries,
): Promise<{ kind: string; rows: number; oldestSeconds: number; unfinishedSeconds: number }[]> {
  return db.query(sql`
    SELECT k.kind, count(m.channel)::int AS rows,
           coalesce(extract(epoch FROM accord_now() - min(m.not_before) FILTER (WHERE m.not_before <= accord_now())),
                    0)::float8 AS "oldestSeconds",
           coalesce(extract(epoch FROM accord_now() - min(m.created_at)), 0)::float8 AS "unfinishedSeconds"
      FROM (VALUES ('mail'), ('sms')) AS k (kind)
      LEFT JOIN (SELECT m.channel, m.not_before, m.created_at FROM messages AS m WHERE m.state = 'PENDING'
                  LIMIT 100000) AS m
        ON m.channel = k.kind
     GROUP BY k.kind`);
}

/** Inserts an event for each message in `m` about a transaction that was sent or has failed. */
export function messageEvents(source: string): Statement {
  return insertEvents(
    {
      from: sql`(SELECT * FROM m WHERE m.state IN ('SENT', 'FAILED') AND m.transaction IS NOT NULL)`,
      topic: 'accord.consents',
      key: sql`s.transaction`,
      type: sql`'io.accord.message.' || lower(s.state) || '.v1'`,
      subject: sql`s.id`,
      time: sql`accord_now()`,
      data: sql`jsonb_build_object(
        'message', s.id, 'transaction', s.transaction, 'kind', s.kind, 'channel', s.channel)`,
    },
    source,
  );
}
