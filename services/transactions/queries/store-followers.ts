import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { NewFollower } from '../domain/compose-followers.ts';
import { tellOfParts } from './submission-events.ts';

/** Common table expressions that store peers' parts of the transaction in `t` and release them: nothing leaves before that COMMIT. */
export function storeFollowers(parts: readonly NewFollower[] = [], source: string): Statement {
  if (parts.length === 0) return empty;
  return sql`parts AS (
      INSERT INTO followers (sid, transaction, place, location, name, state, version, sealed, mode, language, shown, deadline, changed_at)
      SELECT f.sid, t.id, f.place, f.location, f.name, 'SENDING', 1, f.sealed, f.mode, f.language, f.shown, f.deadline, t.changed_at
        FROM t, jsonb_to_recordset(${JSON.stringify(parts)}::jsonb)
          AS f (sid text, place integer, location text, name text, sealed text, mode text, language text, shown jsonb, deadline timestamptz)
      RETURNING sid, location
    ), released AS (${tellOfParts('released', { from: sql`parts`, source })}
    ), `;
}
