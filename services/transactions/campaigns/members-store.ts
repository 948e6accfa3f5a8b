import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import { stateNow } from '../transaction/store.ts';
import type { Campaign, Member } from './campaign.ts';
import { type Exclusion, type MemberState, type Outcome, type Reason, restDays } from './rules.ts';

/** A member that is due, or looked at again. */
export interface DueMember {
  reference: string;
  object: string;
  reason: Reason;
  state: MemberState;
  step: number;
  attempts: number;
  transaction: string | null;
  mailedAt: Date | null;
  outcome: Outcome;
}

/** SQL of {@link Outcome} for a transaction `t` that may be missing. */
const outcome = sql`
  CASE WHEN t.id IS NULL THEN NULL WHEN ${stateNow} = 'COMMITTED' THEN 'COMMITTED'
       WHEN ${stateNow} IN ('CREATED', 'SUBMITTED') THEN 'OPEN' ELSE 'ENDED' END`;

const dueColumns = sql`
  m.subject AS reference, m.object, m.reason, m.state, m.step, m.attempts, m.transaction, m.mailed_at AS "mailedAt",
  ${outcome} AS outcome`;

/** Stores people that were picked. Who is a member already stays as it is. */
export async function insertMembers(
  tx: Queries,
  campaign: string,
  picked: readonly { reference: string; object: string; reason: Reason }[],
): Promise<void> {
  if (picked.length === 0) return;
  await tx.query(sql`
    INSERT INTO campaign_members (campaign, subject, object, reason, state, due_at, changed_at)
    SELECT ${campaign}, s.id, g.object, g.reason, 'PICKED', accord_now(), accord_now()
      FROM jsonb_to_recordset(${JSON.stringify(picked)}::jsonb) AS g (reference uuid, object text, reason text)
      -- People who were erased meanwhile are left out.
      JOIN subjects AS s ON s.id = g.reference
    ON CONFLICT DO NOTHING`);
}

/** The people whose next message is due, the longest first. */
export async function listDue(tx: Queries, campaign: string, limit: number): Promise<string[]> {
  const rows = await tx.query<{ reference: string }>(sql`
    SELECT m.subject AS reference FROM campaign_members AS m
     WHERE m.campaign = ${campaign} AND m.state IN ('PICKED', 'SENT') AND m.due_at <= accord_now()
     ORDER BY m.due_at LIMIT ${limit}`);
  return rows.map(({ reference }) => reference);
}

/** Members whose people the caller has locked, if their message is still due. */
export function lockDue(tx: Queries, campaign: string, references: readonly string[]): Promise<DueMember[]> {
  return tx.query<DueMember>(sql`
    -- By key alone, so that no plan walks all members that are due (ADR 14).
    WITH m AS MATERIALIZED (
      SELECT l.* FROM campaign_members AS l
       WHERE l.campaign = ${campaign} AND l.subject = ANY(${references}::uuid[])
       ORDER BY l.subject FOR NO KEY UPDATE
    )
    SELECT ${dueColumns} FROM m LEFT JOIN transactions AS t ON t.id = m.transaction
     WHERE m.state IN ('PICKED', 'SENT') AND m.due_at <= accord_now() ORDER BY m.subject`);
}

/** The next people who have got a message, in the order of their ids. */
export function listAsked(
  db: Queries,
  campaign: string,
  { after, limit }: { after: string | null; limit: number },
): Promise<DueMember[]> {
  return db.query<DueMember>(sql`
    SELECT ${dueColumns} FROM campaign_members AS m LEFT JOIN transactions AS t ON t.id = m.transaction
     WHERE m.campaign = ${campaign} AND m.state IN ('SENT', 'UNSURE')
       AND ${after === null ? sql`true` : sql`m.subject > ${after}::uuid`}
     ORDER BY m.subject LIMIT ${limit}`);
}

/** What changes of a member; absent members stay. */
export interface MemberChange {
  reference: string;
  state: MemberState;
  why?: Exclusion | undefined;
  transaction?: string | undefined;
  message?: string | undefined;
  step?: number | undefined;
  attempts?: number | undefined;
  /** Milliseconds until the next message is due; null: none is to come. Default: as it was. */
  dueMs?: number | null | undefined;
  /** RFC 3339; null: no message was accepted. Default: now with SENDING, else as it was. */
  mailedAt?: string | null | undefined;
}

/** How long an attempt can be under way: composing, the wait for a connection, and a whole attempt. */
const leaseSeconds = 150;

/** Stores changes. @param from the states that they start from: members in another one stay. */
export async function changeMembers(
  tx: Queries,
  campaign: string,
  changes: readonly MemberChange[],
  from: readonly MemberState[],
): Promise<void> {
  if (changes.length === 0) return;
  await tx.query(sql`
    UPDATE campaign_members AS m
       SET state = g.change->>'state', why = coalesce(g.change->>'why', m.why), changed_at = accord_now(),
           transaction = coalesce(g.change->>'transaction', m.transaction),
           message = coalesce((g.change->>'message')::uuid, m.message),
           step = coalesce((g.change->>'step')::int, m.step),
           attempts = coalesce((g.change->>'attempts')::int, m.attempts),
           due_at = CASE WHEN NOT g.change ? 'dueMs' THEN m.due_at
                         WHEN g.change->>'dueMs' IS NULL THEN 'infinity'
                         ELSE accord_now() + (g.change->>'dueMs')::float8 * interval '1 millisecond' END,
           mailed_at = CASE WHEN g.change->>'state' = 'SENDING' THEN accord_now()
                            WHEN g.change ? 'mailedAt' THEN (g.change->>'mailedAt')::timestamptz
                            ELSE m.mailed_at END,
           lease_until = CASE WHEN g.change->>'state' = 'SENDING'
                              THEN accord_now() + ${leaseSeconds} * interval '1 second' END
      FROM jsonb_array_elements(${JSON.stringify(changes)}::jsonb) AS g (change)
     WHERE m.campaign = ${campaign} AND m.subject = (g.change->>'reference')::uuid
       -- By key, so that no plan walks all members of the campaign (ADR 14).
       AND m.subject = ANY(${changes.map(({ reference }) => reference)}::uuid[]) AND m.state = ANY(${from}::text[])`);
}

/** Makes UNSURE whose attempt was cut off: the process that sent the message has not told how it ended. */
export async function endLostAttempts(db: Queries, limit: number): Promise<number> {
  const rows = await db.query(sql`
    UPDATE campaign_members AS m SET state = 'UNSURE', due_at = 'infinity', lease_until = NULL, changed_at = accord_now()
     WHERE (m.campaign, m.subject) IN (
             SELECT l.campaign, l.subject FROM campaign_members AS l
              WHERE l.state = 'SENDING' AND l.lease_until < accord_now() LIMIT ${limit} FOR UPDATE SKIP LOCKED)
       AND m.state = 'SENDING'
    RETURNING m.subject`);
  return rows.length;
}

/** Closes members of a campaign that is over. @returns how many. */
export async function closeMembers(db: Queries, campaign: string, limit: number): Promise<number> {
  const rows = await db.query(sql`
    UPDATE campaign_members AS m
       SET state = CASE WHEN m.state = 'PICKED' THEN 'SKIPPED' ELSE 'CLOSED' END, changed_at = accord_now(),
           why = CASE WHEN m.state = 'PICKED' THEN 'ENDED' ELSE m.why END
     WHERE m.campaign = ${campaign} AND m.state IN ('PICKED', 'SENT')
       AND m.subject IN (SELECT o.subject FROM campaign_members AS o
                          WHERE o.campaign = ${campaign} AND o.state IN ('PICKED', 'SENT')
                          LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING m.subject`);
  return rows.length;
}

/** Whether a member may still change by itself. @param also SENT counts: an answer may still come. */
export async function hasOpen(
  db: Queries,
  campaign: string,
  states: readonly MemberState[],
): Promise<boolean> {
  const found = await db.maybeOne(sql`
    SELECT FROM campaign_members AS m
     WHERE m.campaign = ${campaign} AND m.state = ANY(${states}::text[]) LIMIT 1`);
  return found !== undefined;
}

/** A page of members, in the order of the ids of their people. */
export function listMembers(
  db: Queries,
  { id, channel }: Pick<Campaign, 'id' | 'channel'>,
  { states, after, limit }: { states: readonly MemberState[]; after: string | null; limit: number },
): Promise<Member[]> {
  const contact = channel === 'EMAIL' ? 'emailAddress' : 'phoneNumber';
  return db.query<Member>(sql`
    SELECT m.subject AS reference, s.name AS subject,
           coalesce(t.context->'subjectInfos'->>${contact}::text,
                    ${channel === 'EMAIL' ? sql`s.email_address` : sql`NULL`}) AS address,
           m.reason, m.state, m.why, m.step, m.transaction, m.changed_at AS "changedAt"
      FROM campaign_members AS m JOIN subjects AS s ON s.id = m.subject
      LEFT JOIN transactions AS t ON t.id = m.transaction
     WHERE m.campaign = ${id} AND ${after === null ? sql`true` : sql`m.subject > ${after}::uuid`}
       ${states.length > 0 ? stateIn(states) : empty}
     ORDER BY m.subject LIMIT ${limit}`);
}

const stateIn = (states: readonly MemberState[]): Statement => sql`AND m.state = ANY(${states}::text[])`;

/** Milliseconds after which a reminder follows. */
export const reminderMs = restDays * 86_400_000;
