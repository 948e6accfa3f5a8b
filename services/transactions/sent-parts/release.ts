import { empty, type Statement, sql } from '#lib/db/sql.ts';
import { partEvents, verdictEvents } from './events.ts';
import { isWithdrawn } from './notices-store.ts';
import type { NewPart } from './part.ts';
/** Common table expressions that store and release the parts of the transaction in `t`. */
export function releaseNewParts(parts: readonly NewPart[], source: string): Statement {
  if (parts.length === 0) return empty;
  return sql`${storeParts(parts, sql`'SENDING'`)}released AS (${partEvents('released', { from: sql`parts`, source })}
    ), `;
}

/** Common table expressions that store the parts of the transaction in `t`. @param state SQL. */
export function storeParts(parts: readonly NewPart[], state: Statement): Statement {
  if (parts.length === 0) return empty;
  return sql`parts AS (
      INSERT INTO followers (sid, transaction, place, location, name, state, version, sealed, mode, language,
                             shown, deadline, changed_at)
      SELECT f.sid, t.id, f.place, f.location, f.name, ${state}, 1, f.sealed, f.mode, f.language, f.shown,
             f.deadline, t.changed_at
        FROM t, jsonb_to_recordset(${JSON.stringify(parts)}::jsonb)
          AS f (sid text, place integer, location text, name text, sealed text, mode text, language text,
                shown jsonb, deadline timestamptz)
      RETURNING sid, location, deadline
    ), `;
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
      UPDATE followers AS f
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
