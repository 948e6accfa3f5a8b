import type { EventData } from '#lib/contracts/events.gen.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { noticeEvents } from './events.ts';
import {
  afterVerdict,
  askAgainHours,
  type Notice,
  type Progress,
  type ReportedVerdict,
  urgency,
  whenDue,
} from './notice.ts';

/** SQL, for a join: the notice `n` about the withdrawal of a part `f`. */
export const withdrawalNotice = sql`
  notices AS n ON n.recipient = f.sid AND n.kind = 'PEER' AND n.withdrawal IS NOT NULL`;

/** SQL: whether a part `f` was withdrawn. */
export const isWithdrawn = sql`EXISTS (
  SELECT FROM notices AS n WHERE n.recipient = f.sid AND n.kind = 'PEER' AND n.withdrawal IS NOT NULL)`;

/** SQL, for a join: the notice `e` about the erasure of a part `f`. */
export const erasureNotice = sql`
  notices AS e ON e.recipient = f.sid AND e.kind = 'PEER' AND e.erasure IS NOT NULL`;

/** SQL: whether the owner of a part `f` was asked to erase it. */
export const isAskedToErase = sql`EXISTS (
  SELECT FROM notices AS e WHERE e.recipient = f.sid AND e.kind = 'PEER' AND e.erasure IS NOT NULL)`;

/**
 * Notices by withdrawal or erasure, in the order of their names. Of several parts of a peer, the most urgent
 * state counts. A refusal in a form can withdraw a consent, too.
 * @param about ids of committed transactions, or of erasures.
 */
export async function readNotices(db: Queries, about: readonly string[]): Promise<Map<string, Notice[]>> {
  if (about.length === 0) return new Map();
  const rows = await db.query<Notice & { about: string }>(sql`
    SELECT n.about, n.name, n.kind, n.location, n.state, n.outcome, n.note, n.since
      FROM (SELECT DISTINCT ON (n.about, coalesce(n.location, n.recipient)) n.*
              FROM notices AS n WHERE n.about = ANY(${about}::text[])
             ORDER BY n.about, coalesce(n.location, n.recipient), array_position(${urgency}::text[], n.state),
                      n.outcome = 'kept' DESC, n.since DESC) AS n
     ORDER BY n.about, n.name, coalesce(n.location, n.recipient)`);
  return Map.groupBy(rows, (row) => row.about);
}

/**
 * Stores what the organisation behind a webhook knows of a withdrawal or an erasure, unless a newer state is
 * stored already, or this withdrawal or erasure does not exist.
 */
export async function storeNotice(
  db: Queries,
  notice: EventData['io.accord.notice.queued.v1'],
): Promise<void> {
  const { transaction: id, recipient, name, state, outcome = null, note = null, version, since } = notice;
  await db.query(sql`
    INSERT INTO notices AS n (withdrawal, erasure, recipient, kind, name, state, outcome, note, version, since,
                              created_at)
    SELECT t.id, e.id, ${recipient}, 'RECIPIENT', ${name}, ${state}, ${outcome}, ${note}, ${version}::int,
           ${since}::timestamptz, accord_now()
      FROM (SELECT t.id FROM transactions AS t WHERE t.id = ${id}) AS t
      FULL JOIN (SELECT e.id FROM erasures AS e WHERE e.id = ${id}) AS e ON e.id = t.id
    ON CONFLICT (about, recipient) DO UPDATE
       SET name = excluded.name, state = excluded.state, outcome = excluded.outcome, note = excluded.note,
           version = excluded.version, since = excluded.since
     WHERE n.version < excluded.version`);
}

/**
 * Queues a notice for the owner of each part `f` of a transaction `t` that meets a condition.
 * @param about the withdrawal or the erasure.
 */
export async function queuePeerNotices(
  tx: Queries,
  about: { withdrawal: string } | { erasure: string },
  parts: Statement,
  source: string,
): Promise<void> {
  const { withdrawal, erasure } = { withdrawal: null, erasure: null, ...about };
  await tx.query(sql`
    WITH queued AS (
      INSERT INTO notices AS n (withdrawal, erasure, recipient, kind, location, name, state, since, due_at, created_at)
      SELECT ${withdrawal}, ${erasure}, f.sid, 'PEER', f.location, f.name, 'QUEUED', accord_now(),
             accord_now() + ${askAgainHours.QUEUED} * interval '1 hour', accord_now()
        FROM sent_parts AS f JOIN transactions AS t ON t.id = f.transaction
       WHERE ${parts}
      RETURNING n.*
    ) ${noticeEvents(sql`queued`, source)}`);
}

/** Makes requests to erase parts those of another erasure, which then shows their state. */
export async function takeOverRequests(tx: Queries, erasure: string, ids: readonly string[]): Promise<void> {
  await tx.query(sql`
    UPDATE notices AS n SET erasure = ${erasure} FROM sent_parts AS f
     WHERE f.transaction = ANY(${ids}::text[]) AND n.recipient = f.sid AND n.kind = 'PEER'
       AND n.erasure IS NOT NULL`);
}

/** A locked notice to the owner of a part, and the time now. */
type LockedNotice = Progress & { about: string; recipient: string; now: Date };

const lockedColumns = sql`n.about, n.recipient, n.state, n.outcome, n.since, n.created_at AS "createdAt",
           n.due_at AS "dueAt", accord_now() AS now`;

/**
 * Applies a verdict on the withdrawal or the erasure of a part to its notice. Idempotent.
 * @returns false if there is no such notice, or if the part belongs to another owner.
 */
export async function applyToNotice(tx: Queries, verdict: ReportedVerdict): Promise<boolean> {
  const notice = await tx.maybeOne<LockedNotice>(sql`
    SELECT ${lockedColumns} FROM notices AS n
     WHERE n.recipient = ${verdict.submission} AND n.kind = 'PEER' AND n.location = ${verdict.peer}
       AND (n.erasure IS NULL) = ${verdict.about === 'withdrawal'} FOR UPDATE`);
  if (!notice) return false;
  await tx.query(sql`WITH ${changeNotices([afterVerdict(notice, verdict, notice.now)])} SELECT`);
  return true;
}

/**
 * Asks the owners of parts again, and marks notices as OVERDUE ({@link whenDue}). A delivery that is still
 * queued is not queued twice. @returns how many, at most `limit`.
 */
export async function repeatNotices(tx: Queries, limit: number, source: string): Promise<number> {
  const due = await tx.query<LockedNotice>(sql`
    SELECT ${lockedColumns} FROM notices AS n
     WHERE n.due_at <= accord_now() ORDER BY n.due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`);
  if (due.length === 0) return 0;
  const asked = sql`(SELECT * FROM changed AS c WHERE c.due_at IS NOT NULL)`;
  await tx.query(sql`
    WITH ${changeNotices(due.map((notice) => whenDue(notice, notice.now)))} ${noticeEvents(asked, source)}`);
  return due.length;
}

/**
 * A common table expression `changed` that writes how far notices have come. The list of recipients makes the
 * plan use an index (ADR 14).
 */
function changeNotices(notices: readonly LockedNotice[]): Statement {
  const recipients = notices.map(({ recipient }) => recipient);
  return sql`changed AS (
      UPDATE notices AS n SET state = g.state, outcome = g.outcome, since = g.since, due_at = g."dueAt"
        FROM jsonb_to_recordset(${JSON.stringify(notices)}::jsonb)
          AS g (about text, recipient text, state text, outcome text, since timestamptz, "dueAt" timestamptz)
       WHERE n.about = g.about AND n.recipient = g.recipient AND n.kind = 'PEER'
         AND n.recipient = ANY(${recipients}::text[])
      RETURNING n.*
    )`;
}

/**
 * For metrics: parts of which the owners have not acknowledged a withdrawal in time, or not carried out an
 * erasure; of the last 90 days, counted up to 100,000.
 */
export async function countOverdue(db: Queries): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    SELECT count(*)::int AS count
      FROM (SELECT FROM notices AS n
             WHERE n.kind = 'PEER' AND n.state = 'OVERDUE' AND n.created_at > accord_now() - interval '90 days'
             LIMIT 100000) AS o`);
  return count;
}
