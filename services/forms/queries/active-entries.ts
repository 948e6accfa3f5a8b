import type { SharedEntry } from '#lib/contracts/peer-entries.ts';
import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { StoredVersion } from '../domain/content-version.ts';
import { parseSerial } from '../domain/identifiers.ts';
import type { EntryStatus, ModelType } from '../domain/model.ts';

/** An entry as every form request reads it: one small row. Its content is cached by version. */
export interface ActiveRow {
  id: string;
  key: string;
  type: ModelType;
  name: string;
  status: EntryStatus;
  answered: boolean;
  isDefault: boolean;
  version: string | null;
  major: number | null;
  minor: number | null;
}

/** An entry's columns; the table's alias must be `m`. */
const activeColumns = sql`m.id, m.key, m.type, m.name, m.status, m.answered, m.is_default AS "isDefault",
  m.active_version AS version, m.active_major AS major, m.active_minor AS minor`;

/** The entries to find: by key, and by id where a reference has the shape of an id. */
export interface Wanted {
  keys: readonly string[];
  ids?: readonly string[];
  /** Whether to include the default information. */
  withDefault?: boolean;
}

/** Entries by key, by id, and the default one. */
export function readActive(db: Queries, wanted: Wanted): Promise<ActiveRow[]> {
  return db.query<ActiveRow>(selectActive(wanted));
}

/** The statement of {@link readActive}: a union, because PostgreSQL plans OR over several columns badly. */
export function selectActive({ keys, ids = [], withDefault = false }: Wanted): Statement {
  const from = sql`SELECT ${activeColumns} FROM models AS m`;
  return sql`
    ${from} WHERE m.key = ANY(${keys}::text[])
    ${ids.length > 0 ? sql`UNION ${from} WHERE m.id = ANY(${ids}::uuid[])` : empty}
    ${withDefault ? sql`UNION ${from} WHERE m.is_default` : empty}`;
}

/** Which of the entries had an option with a comma, in any language of a version that was activated. */
export async function readWithCommas(db: Queries, keys: readonly string[]): Promise<string[]> {
  const rows = await db.query<{ key: string }>(sql`
    SELECT m.key FROM models AS m
     WHERE m.key = ANY(${keys}::text[]) AND m.type = 'preference' AND EXISTS (
           SELECT FROM model_versions AS v
            WHERE v.model = m.id AND v.activated_at IS NOT NULL
              AND jsonb_path_exists(v.data, '$.*.options[*] ? (@ like_regex ",")'))`);
  return rows.map(({ key }) => key);
}

/**
 * Marks entries as answered, because records may exist from now on.
 * @returns how many of them still exist.
 */
export async function markAnswered(db: Queries, ids: readonly string[]): Promise<number> {
  const rows = await db.query(
    sql`UPDATE models SET answered = true WHERE id = ANY(${ids}::uuid[]) RETURNING id`,
  );
  return rows.length;
}

/** Content of activated versions, which never changes. */
export function readContents(db: Queries, ids: readonly string[]): Promise<StoredVersion[]> {
  return db.query<StoredVersion>(sql`
    SELECT v.id, m.type, m.key, v.major || '.' || v.minor AS serial, v.default_language AS "defaultLanguage", v.data
      FROM model_versions AS v JOIN models AS m ON m.id = v.model
     WHERE v.id = ANY(${ids}::uuid[]) AND v.status <> 'DRAFT'`);
}

/** The drafts of entries without an ACTIVE version, with the place of a serial taken by their ids. */
export function readNewDrafts(
  db: Queries,
  ids: readonly string[],
): Promise<(StoredVersion & { model: string })[]> {
  return db.query<StoredVersion & { model: string }>(sql`
    SELECT v.id, v.model, m.type, m.key, v.id::text AS serial, v.default_language AS "defaultLanguage", v.data
      FROM model_versions AS v JOIN models AS m ON m.id = v.model
     WHERE m.id = ANY(${ids}::uuid[]) AND m.status = 'INACTIVE' AND v.status = 'DRAFT'`);
}

/** A version found by its serial. */
export interface SerialRow {
  id: string;
  type: string;
  key: string;
  serial: string;
  /** Whether it was ACTIVE at or after the given time and its MAJOR is ACTIVE now. */
  accepted: boolean;
}

/**
 * Reads versions by serial.
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
  return db.query<SerialRow>(sql`
    SELECT v.id, m.type, m.key, v.major || '.' || v.minor AS serial,
           coalesce(v.major = m.active_major, false) AND (v.archived_at IS NULL OR v.archived_at >= ${since}::timestamptz) AS accepted
      FROM unnest(${known.map(({ key }) => key)}::text[], ${known.map(({ major }) => major)}::int[], ${known.map(({ minor }) => minor)}::int[])
             AS w (key, major, minor)
      JOIN models AS m ON m.key = w.key
      JOIN model_versions AS v ON v.model = m.id AND v.major = w.major AND v.minor = w.minor`);
}

/**
 * Shared with a peer: ACTIVE elements shared with all peers or this one, and the default information, under
 * which peers show them.
 */
const visibleTo = (peer: string) => sql`
  m.status = 'ACTIVE'
  AND (m.is_default
       OR (m.shared AND m.type IN ('processing', 'preference', 'conditions')
           AND (m.shared_with = '{}' OR ${peer} = ANY(m.shared_with))))`;

/** A page of the entries shared with a peer, sorted by key. */
export function readSharedEntries(
  db: Queries,
  { peer, after, limit }: { peer: string; after: string; limit: number },
): Promise<SharedEntry[]> {
  return db.query<SharedEntry>(sql`
    SELECT m.key, m.type, m.name, m.revision, v.major || '.' || v.minor AS serial,
           v.default_language AS "defaultLanguage", v.data
      FROM models AS m JOIN model_versions AS v ON v.id = m.active_version
     WHERE ${visibleTo(peer)} AND m.key > ${after}
     ORDER BY m.key LIMIT ${limit}`);
}

/** The entries with these keys that are shared with a peer. */
export function readSharedActive(db: Queries, peer: string, keys: readonly string[]): Promise<ActiveRow[]> {
  return db.query<ActiveRow>(sql`
    SELECT ${activeColumns} FROM models AS m WHERE m.key = ANY(${keys}::text[]) AND ${visibleTo(peer)}`);
}

/**
 * A digest that changes with the entries shared with a peer. It includes the time of change, because
 * revisions repeat after a restore from a backup.
 */
export async function readSharedState(db: Queries, peer: string): Promise<string> {
  const { state } = await db.one<{ state: string }>(sql`
    SELECT encode(sha256(convert_to(coalesce(string_agg(
             m.key || ' ' || m.revision || ' ' || extract(epoch FROM m.modified_at), E'\n' ORDER BY m.key), ''), 'UTF8')),
             'hex') AS state
      FROM models AS m WHERE ${visibleTo(peer)}`);
  return state;
}
