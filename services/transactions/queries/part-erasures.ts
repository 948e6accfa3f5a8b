import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { PartErasure } from '../domain/part-erasure.ts';
import { partEvents } from './events.ts';

/**
 * SQL: whether the owner of a part `f` of a transaction `t` may have stored the part. It has not if the part
 * was never sent, or was refused without a transaction at the owner.
 */
export const mayBeStored = sql`(
  f.state IN ('SENDING', 'HELD', 'ACCEPTED')
  OR f.state = 'DROPPED' AND NOT t.awaits_code AND coalesce(f.reason, '') NOT IN ('unsent', 'withdrawn')
  OR f.state = 'REFUSED' AND f.remote_id IS NOT NULL)`;

/**
 * For each part of these transactions that its owner may have stored, queues a request to erase it. After a
 * restore the owners are asked again.
 */
export async function orderPartErasures(
  tx: Queries,
  { erasure, transactions }: { erasure: string; transactions: readonly string[] },
  source: string,
): Promise<void> {
  await tx.query(sql`
    WITH o AS (
      INSERT INTO part_erasures AS p (sid, erasure, location, state, since, ordered_at, created_at)
      SELECT f.sid, ${erasure}, f.location, 'QUEUED', accord_now(), accord_now(), accord_now()
        FROM followers AS f JOIN transactions AS t ON t.id = f.transaction
       WHERE f.transaction = ANY(${transactions}::text[]) AND ${mayBeStored}
      ON CONFLICT (sid) DO UPDATE
         SET erasure = excluded.erasure, state = excluded.state, outcome = NULL, since = excluded.since,
             ordered_at = excluded.ordered_at, created_at = excluded.created_at
      RETURNING p.*
    ) ${partEvents('erased', { from: sql`o`, source })}`);
}

/** For how long an owner is asked again. */
const askDays = 40;

/**
 * Writes what an owner has answered, unless it has answered for good before. A request that the owner has
 * noted (DELIVERED), or that is no longer sent after 40 days, does not become FAILED. Idempotent.
 */
export async function changePartErasure(
  tx: Queries,
  { sid, location, state, outcome }: { sid: string; location: string } & PartErasure,
): Promise<void> {
  await tx.query(sql`
    UPDATE part_erasures AS p
       SET state = ${state}, outcome = ${outcome},
           since = CASE WHEN p.state = ${state} THEN p.since ELSE accord_now() END
     WHERE p.sid = ${sid} AND p.location = ${location} AND p.state <> 'ACKNOWLEDGED'
       AND NOT (${state} = 'FAILED' AND (p.state = 'DELIVERED'
                                         OR p.since >= p.created_at + ${askDays} * interval '1 day'))`);
}

/** An owner that has not answered for so long is OVERDUE. One that has not finished is asked again daily. */
const overdueHours = 72;
const askAgainHours = 24;

/**
 * Requests without an answer for 72 hours become OVERDUE; their events are published again, in case they were
 * lost. Owners that have not finished are asked again for 40 days, and are OVERDUE after that.
 * @returns how many, at most `limit`.
 */
export async function repeatPartErasures(tx: Queries, limit: number, source: string): Promise<number> {
  const since = (hours: number) => sql`accord_now() - ${hours} * interval '1 hour'`;
  const repeated = await tx.query(sql`
    WITH due AS MATERIALIZED (
      SELECT p.sid, p.state = 'QUEUED' OR p.created_at <= ${since(askDays * 24)} AS late FROM part_erasures AS p
       WHERE p.state = 'QUEUED' AND p.ordered_at <= ${since(overdueHours)}
          OR p.state = 'DELIVERED' AND p.ordered_at <= ${since(askAgainHours)}
       ORDER BY p.ordered_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), changed AS (
      UPDATE part_erasures AS p
         SET state = CASE WHEN d.late THEN 'OVERDUE' ELSE p.state END,
             since = CASE WHEN d.late THEN accord_now() ELSE p.since END, ordered_at = accord_now()
        FROM due AS d WHERE p.sid = d.sid
      RETURNING p.*
    ), o AS (SELECT * FROM changed AS c WHERE c.created_at > ${since(askDays * 24)}
    ), asked AS (${partEvents('erased', { from: sql`o`, source })}
    )
    SELECT FROM changed`);
  return repeated.length;
}

/** What a peer knows of an erasure. */
export interface PeerErasure extends PartErasure {
  location: string;
  since: Date;
}

/** By erasure: what the peers know of it; of several parts the worst state counts. */
export async function readPeerErasures(
  db: Queries,
  erasures: readonly string[],
): Promise<Map<string, PeerErasure[]>> {
  const rows = await db.query<PeerErasure & { erasure: string }>(sql`
    SELECT DISTINCT ON (p.erasure, p.location) p.erasure, p.location, p.state, p.outcome, p.since
      FROM part_erasures AS p WHERE p.erasure = ANY(${erasures}::text[])
     ORDER BY p.erasure, p.location,
              array_position(ARRAY['FAILED', 'UNSUPPORTED', 'OVERDUE', 'QUEUED', 'DELIVERED', 'ACKNOWLEDGED'], p.state),
              p.outcome = 'kept' DESC, p.since DESC`);
  return Map.groupBy(rows, ({ erasure }) => erasure);
}
