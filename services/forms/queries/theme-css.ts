import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { isEntryId } from '../domain/model-key.ts';
import { parseSerial } from '../domain/serial.ts';

/**
 * The style sheet of a theme's version, '' if it has none; undefined if there is no such version.
 * @param name a serial, or a version's id.
 */
export async function readThemeCss(db: Queries, key: string, name: string): Promise<string | undefined> {
  const serial = parseSerial(name);
  const id = isEntryId(name) ? name : null;
  if (!serial && !id) return undefined;
  const row = await db.maybeOne<{ css: string | null }>(sql`
    SELECT v.data -> v.default_language ->> 'css' AS css
      FROM model_versions AS v JOIN models AS m ON m.id = v.model
     WHERE m.type = 'theme' AND m.key = ${key}
       AND (v.id = ${id}::uuid OR (v.major = ${serial?.major ?? null}::int AND v.minor = ${serial?.minor ?? null}::int))`);
  return row && (row.css ?? '');
}
