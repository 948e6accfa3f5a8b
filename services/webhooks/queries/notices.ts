import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { outboxRows, requestExtension } from '#lib/events/outbox.ts';
import type { Outcome } from '../domain/acknowledgement.ts';

/** Inserts an event for each notice in `from`. @param source BASE_URL. */
function noticeEvents(from: Statement, source: string): Statement {
  return outboxRows(
    'accord.notices',
    sql`(
      SELECT jsonb_build_object('id', gen_random_uuid(), 'type', 'io.accord.notice.' || lower(c.state) || '.v1',
               'source', ${source}::text, 'subject', c.transaction,
               'data', jsonb_strip_nulls(jsonb_build_object('transaction', c.transaction, 'recipient', c.webhook,
                 'name', c.name, 'state', c.state, 'version', c.version, 'since', to_json(c.since),
                 'outcome', c.outcome, 'note', c.note))) || ${requestExtension()}::jsonb AS event
        FROM ${from} AS c)`,
  );
}

/**
 * Common table expressions that create the notices of a withdrawal or an erasure, for the deliveries in
 * `queued` to the webhooks in `wanted`. A further event of it belongs to the same notice.
 * @param transaction the transaction that withdraws, or the erasure.
 */
export function queueNotices(transaction: string, source: string): Statement {
  return sql`told AS (
      INSERT INTO notices AS n (webhook, transaction, name, state, version, since, period, due, created_at)
      SELECT w.webhook, ${transaction}, w.recipient, 'QUEUED', 1, accord_now(), w.period,
             accord_now() + w.period, accord_now()
        FROM queued AS q JOIN wanted AS w ON w.webhook = q.webhook
       WHERE w.recipient IS NOT NULL
       ORDER BY w.webhook
      ON CONFLICT (webhook, transaction) DO UPDATE
         SET state = 'QUEUED', outcome = NULL, note = NULL, version = n.version + 1, since = accord_now()
      RETURNING n.*
    ), pieces AS (
      INSERT INTO notice_messages (message, webhook, transaction, state)
      SELECT q.id, c.webhook, c.transaction, 'QUEUED' FROM queued AS q JOIN told AS c ON c.webhook = q.webhook
    ), written AS (${noticeEvents(sql`told`, source)}
    )`;
}

/** SQL: the notices to which messages belong. */
function noticesOf(messages: readonly string[]): Statement {
  return sql`(
    SELECT m.webhook, m.transaction FROM notice_messages AS m WHERE m.message = ANY(${messages}::uuid[]))`;
}

/** Locks the notices of messages, so that concurrent changes are serialised. */
async function lockNotices(tx: Queries, messages: readonly string[]): Promise<number> {
  const locked = await tx.query(sql`
    SELECT n.webhook FROM notices AS n WHERE (n.webhook, n.transaction) IN ${noticesOf(messages)}
     ORDER BY n.webhook, n.transaction FOR NO KEY UPDATE`);
  return locked.length;
}

/**
 * Locks the notice of a message. @returns what was acknowledged; undefined if the webhook has no such
 * message.
 */
export async function lockAcknowledgement(
  tx: Queries,
  { webhook, message }: { webhook: string; message: string },
): Promise<{ outcome: Outcome | null } | undefined> {
  await lockNotices(tx, [message]);
  return tx.maybeOne(
    sql`SELECT m.outcome FROM notice_messages AS m WHERE m.message = ${message} AND m.webhook = ${webhook}`,
  );
}

/** What has become of messages. */
export interface MessageChange {
  /** `webhook-id`s; those without a notice are ignored. */
  messages: readonly string[];
  state: 'DELIVERED' | 'ACKNOWLEDGED' | 'FAILED';
  outcome?: Outcome;
  note?: string | null;
}

/**
 * Earlier states of a message that a later one replaces. An acknowledgement may precede the end of its
 * delivery.
 */
const replaced = {
  DELIVERED: ['QUEUED', 'FAILED'],
  FAILED: ['QUEUED'],
  ACKNOWLEDGED: ['QUEUED', 'DELIVERED', 'FAILED'],
} as const;

/**
 * SQL: the state of the notices of messages, according to all of their messages. Before all are
 * acknowledged, only a late delivery or a failed one ends OVERDUE.
 */
function judged({ messages, state }: Pick<MessageChange, 'messages' | 'state'>): Statement {
  return sql`
      SELECT n.webhook, n.transaction,
             CASE WHEN bool_and(m.state = 'ACKNOWLEDGED') THEN 'ACKNOWLEDGED'
                  WHEN bool_or(m.state = 'FAILED') THEN 'FAILED'
                  WHEN n.state = 'OVERDUE' AND ${state !== 'DELIVERED'} THEN 'OVERDUE'
                  WHEN bool_and(m.state <> 'QUEUED') THEN 'DELIVERED'
                  WHEN n.state = 'OVERDUE' THEN 'OVERDUE'
                  ELSE 'QUEUED' END AS state,
             CASE WHEN bool_or(m.outcome = 'kept') THEN 'kept' ELSE 'done' END AS outcome,
             left(string_agg(DISTINCT m.note, E'\n'), 500) AS note
        FROM notices AS n JOIN notice_messages AS m ON m.webhook = n.webhook AND m.transaction = n.transaction
       WHERE (n.webhook, n.transaction) IN ${noticesOf(messages)}
       GROUP BY n.webhook, n.transaction`;
}

/**
 * Records what has become of messages, and changes the states of their notices. @returns whether events were
 * written.
 */
export async function changeMessages(
  tx: Queries,
  { messages, state, outcome, note }: MessageChange,
  source: string,
): Promise<boolean> {
  if (messages.length === 0 || (await lockNotices(tx, messages)) === 0) return false;
  await tx.query(sql`
    UPDATE notice_messages AS m SET state = ${state}, outcome = ${outcome ?? null}, note = ${note ?? null}
     WHERE m.message = ANY(${messages}::uuid[]) AND m.state = ANY(${replaced[state]}::text[])`);
  // A delivery after the period begins it again: the organisation has only learnt of the withdrawal now.
  const changed = await tx.query(sql`
    WITH judged AS (${judged({ messages, state })}
    ), changed AS (
      UPDATE notices AS n
         SET state = j.state, version = n.version + 1, since = accord_now(),
             outcome = CASE WHEN j.state = 'ACKNOWLEDGED' THEN j.outcome END,
             note = CASE WHEN j.state = 'ACKNOWLEDGED' THEN j.note END,
             due = CASE WHEN j.state = 'DELIVERED' AND n.due <= accord_now() THEN accord_now() + n.period ELSE n.due END
        FROM judged AS j
       WHERE n.webhook = j.webhook AND n.transaction = j.transaction AND n.state <> j.state
      RETURNING n.*
    ), written AS (${noticeEvents(sql`changed`, source)}
    )
    SELECT c.webhook FROM changed AS c`);
  return changed.length > 0;
}

/** Marks notices as OVERDUE whose acknowledgement is late. @returns how many. */
export async function markOverdue(
  db: Queries,
  { source, limit }: { source: string; limit: number },
): Promise<number> {
  const changed = await db.query(sql`
    WITH late AS MATERIALIZED (
      SELECT n.webhook, n.transaction FROM notices AS n
       WHERE n.state IN ('QUEUED', 'DELIVERED') AND n.due <= accord_now()
       ORDER BY n.due LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    ), changed AS (
      UPDATE notices AS n SET state = 'OVERDUE', version = n.version + 1, since = accord_now()
        FROM late AS l WHERE n.webhook = l.webhook AND n.transaction = l.transaction
      RETURNING n.*
    ), written AS (${noticeEvents(sql`changed`, source)}
    )
    SELECT c.webhook FROM changed AS c`);
  return changed.length;
}

/** Messages that can no longer be delivered: too old, or their webhook was deleted. */
export async function undeliverableMessages(
  db: Queries,
  { days, limit }: { days: number; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ message: string }>(sql`
    SELECT m.message FROM notice_messages AS m
      JOIN notices AS n ON n.webhook = m.webhook AND n.transaction = m.transaction
     WHERE m.state = 'QUEUED'
       AND (n.created_at < accord_now() - ${days} * interval '1 day'
            OR NOT EXISTS (SELECT FROM webhooks AS w WHERE w.id = m.webhook))
     LIMIT ${limit}`);
  return rows.map(({ message }) => message);
}

/** Deletes notices by age; transactions keeps their states. @returns how many. */
export async function deleteOldNotices(
  db: Queries,
  { days, limit }: { days: number; limit: number },
): Promise<number> {
  const deleted = await db.query(sql`
    DELETE FROM notices WHERE (webhook, transaction) IN (
      SELECT n.webhook, n.transaction FROM notices AS n
       WHERE n.created_at < accord_now() - ${days} * interval '1 day'
       ORDER BY n.created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING webhook`);
  return deleted.length;
}

/** For metrics: OVERDUE notices of webhooks that exist, counted up to 100,000. */
export async function countOverdue(db: Queries): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    SELECT count(*)::int AS count
      FROM (SELECT FROM webhooks AS w JOIN notices AS n ON n.webhook = w.id
             WHERE n.state = 'OVERDUE' LIMIT 100000) AS overdue`);
  return count;
}
