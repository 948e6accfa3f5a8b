import { empty, type Statement, sql } from '#lib/db/sql.ts';
import { partEvents } from './events.ts';
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
      INSERT INTO sent_parts (sid, transaction, place, location, name, state, version, sealed, mode, language,
                             shown, validity, deadline, changed_at)
      SELECT f.sid, t.id, f.place, f.location, f.name, ${state}, 1, f.sealed, f.mode, f.language, f.shown,
             f.validity, f.deadline, t.changed_at
        FROM t, jsonb_to_recordset(${JSON.stringify(parts)}::jsonb)
          AS f (sid text, place integer, location text, name text, sealed text, mode text, language text,
                shown jsonb, validity text, deadline timestamptz)
      RETURNING sid, location, deadline
    ), `;
}
