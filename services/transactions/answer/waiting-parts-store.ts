import type { Queries } from '#lib/db/database.ts';
import type { Statement } from '#lib/db/sql.ts';
import { empty, sql } from '#lib/db/sql.ts';
import { partEvents, verdictEvents } from '../sent-parts/events.ts';
import { isWithdrawn } from '../sent-parts/notices-store.ts';
import { useCode } from './codes-store.ts';
import { rollBack } from './end-transactions.ts';

/** A transaction whose code was entered: its id, and the number of the code, which is marked as used. */
interface Confirmed {
  id: string;
  code: number;
}

/**
 * Releases parts after the right code, if all owners must hold theirs before the answers are committed.
 * The caller has locked the person; no part was withdrawn.
 * @param deadline until when all owners must hold their parts.
 * @returns false if the transaction no longer awaits a code, its deadline has passed, or the code was
 * replaced or used.
 */
export async function awaitPeers(
  tx: Queries,
  { deadline, ...confirmed }: Confirmed & { deadline: Date },
  source: string,
): Promise<boolean> {
  const row = await tx.maybeOne(sql`
    WITH ${endWaiting(confirmed, sql`, changed_at = accord_now(), expires_at = ${deadline}`)},
         ${releaseWaitingParts(deadline, source)}
    SELECT t.id FROM t`);
  return row !== undefined;
}

/**
 * Rolls answers back after the right code, because a part was withdrawn that its owner had to hold.
 * @returns false where {@link awaitPeers} returns false.
 */
export async function rollBackWithdrawn(tx: Queries, confirmed: Confirmed, source: string): Promise<boolean> {
  const row = await tx.maybeOne(sql`WITH ${endWaiting(confirmed)} SELECT t.id FROM t`);
  return row !== undefined && (await rollBack(tx, sql`SELECT ${confirmed.id}::text`, source)).length > 0;
}

function endWaiting({ id, code }: Confirmed, changes: Statement = empty): Statement {
  return sql`used AS (${useCode(id, code)}), t AS (
      UPDATE transactions SET awaits_code = false ${changes}
       WHERE id = ${id} AND state = 'SUBMITTED' AND awaits_code AND expires_at > accord_now()
         AND EXISTS (SELECT FROM used)
      RETURNING *
    )`;
}

/**
 * Common table expressions that release the parts that waited for the code of the transaction in `t`. A part
 * that was withdrawn is dropped instead: if it were released, only an owner that still remembers the
 * withdrawal would refuse it. The caller has locked the person.
 */
export function releaseWaitingParts(deadline: Date, source: string): Statement {
  const parts = (state: string) => sql`(SELECT p.* FROM parts AS p WHERE p.state = ${state})`;
  const refused = sql`'io.accord.peer.submission.refused.v1'::text`;
  return sql`parts AS (
      UPDATE sent_parts AS f
         SET state = CASE WHEN ${isWithdrawn} THEN 'DROPPED' ELSE 'SENDING' END,
             reason = CASE WHEN ${isWithdrawn} THEN 'withdrawn' END,
             sealed = CASE WHEN NOT ${isWithdrawn} THEN f.sealed END,
             version = f.version + 1, deadline = ${deadline}, changed_at = t.changed_at
        FROM t WHERE f.transaction = t.id AND f.state = 'WAITING'
      RETURNING f.*
    ), released AS (${partEvents('released', { from: parts('SENDING'), source })}
    ), withdrawn_parts AS (${verdictEvents({ type: refused, from: parts('DROPPED') }, source)}
    )`;
}
