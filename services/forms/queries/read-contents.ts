import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { StoredVersion } from '../domain/content-version.ts';
import { formatSerial, parseSerial, type Serial } from '../domain/serial.ts';

type ContentRow = Omit<StoredVersion, 'serial'> & Serial;

/** Content of activated versions, which never changes. */
export async function readContents(db: Queries, ids: readonly string[]): Promise<StoredVersion[]> {
  const rows = await db.query<ContentRow>(sql`
    SELECT v.id, m.type, m.key, v.major, v.minor, v.default_language AS "defaultLanguage", v.data
      FROM model_versions AS v JOIN models AS m ON m.id = v.model
     WHERE v.id = ANY(${ids}::uuid[]) AND v.status <> 'DRAFT'`);
  return rows.map(({ major, minor, ...row }) => ({ ...row, serial: formatSerial({ major, minor }) }));
}

/** A version named by its serial. */
export interface SerialRow {
  id: string;
  type: string;
  key: string;
  serial: string;
  /** It was ACTIVE at or after the time asked about, and its MAJOR is ACTIVE now. */
  accepted: boolean;
}

/**
 * The versions that answers name beside the ACTIVE ones.
 * @param since RFC 3339: when the transaction was created.
 */
export async function readSerials(
  db: Queries,
  wanted: readonly { key: string; serial: string }[],
  since: string,
): Promise<SerialRow[]> {
  const known = wanted.flatMap(({ key, serial }) => {
    const parsed = parseSerial(serial);
    return parsed ? [{ key, ...parsed }] : [];
  });
  if (known.length === 0) return [];
  const rows = await db.query<Omit<SerialRow, 'serial'> & Serial>(sql`
    SELECT v.id, m.type, m.key, v.major, v.minor,
           coalesce(v.major = m.active_major, false) AND (v.archived_at IS NULL OR v.archived_at >= ${since}::timestamptz) AS accepted
      FROM unnest(${known.map(({ key }) => key)}::text[], ${known.map(({ major }) => major)}::int[], ${known.map(({ minor }) => minor)}::int[])
             AS w (key, major, minor)
      JOIN models AS m ON m.key = w.key
      JOIN model_versions AS v ON v.model = m.id AND v.major = w.major AND v.minor = w.minor`);
  return rows.map(({ major, minor, ...row }) => ({ ...row, serial: formatSerial({ major, minor }) }));
}
