import type { SharedEntry } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { formatSerial, type Serial } from '../domain/serial.ts';
import { type ActiveRow, activeColumns } from './read-active.ts';

/** ACTIVE elements that are shared with everybody or with this peer, and the default information, under which others show them. */
const visibleTo = (peer: string) => sql`
  m.status = 'ACTIVE'
  AND (m.is_default
       OR (m.shared AND m.type IN ('processing', 'preference', 'conditions')
           AND (m.shared_with = '{}' OR ${peer} = ANY(m.shared_with))))`;

/** What a peer may show, by key, after a key. */
export async function readSharedEntries(
  db: Queries,
  { peer, after, limit }: { peer: string; after: string; limit: number },
): Promise<SharedEntry[]> {
  const rows = await db.query<Omit<SharedEntry, 'serial'> & Serial>(sql`
    SELECT m.key, m.type, m.name, m.revision, v.major, v.minor, v.default_language AS "defaultLanguage", v.data
      FROM models AS m JOIN model_versions AS v ON v.id = m.active_version
     WHERE ${visibleTo(peer)} AND m.key > ${after}
     ORDER BY m.key LIMIT ${limit}`);
  return rows.map(({ major, minor, ...row }) => ({ ...row, serial: formatSerial({ major, minor }) }));
}

/** Which of these keys a peer may show. */
export function readSharedActive(db: Queries, peer: string, keys: readonly string[]): Promise<ActiveRow[]> {
  return db.query<ActiveRow>(sql`
    SELECT ${activeColumns} FROM models AS m WHERE m.key = ANY(${keys}::text[]) AND ${visibleTo(peer)}`);
}

/**
 * A digest of all that a peer may show: another one means that something has changed. Revisions alone begin again at an instance that was
 * restored from a backup, when peers have read what came after it.
 */
export async function readSharedState(db: Queries, peer: string): Promise<string> {
  const { state } = await db.one<{ state: string }>(sql`
    SELECT encode(sha256(convert_to(coalesce(string_agg(m.key || ' ' || m.revision || ' ' || extract(epoch FROM m.modified_at), E'\n' ORDER BY m.key), ''), 'UTF8')), 'hex') AS state
      FROM models AS m WHERE ${visibleTo(peer)}`);
  return state;
}
