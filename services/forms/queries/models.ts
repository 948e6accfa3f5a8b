import type { Queries } from '#lib/db/database.ts';
import { join, type Statement, sql } from '#lib/db/sql.ts';
import type { Entry, ModelType } from '../domain/model.ts';
import type { NamedEntry } from '../domain/resolve-layout.ts';

export const entryColumns = sql`m.id, m.key, m.type, m.name, m.description, m.shared, m.shared_with AS "sharedWith", m.status,
  m.is_default AS "isDefault", m.answered, m.last_major AS "lastMajor", m.last_minor AS "lastMinor",
  m.active_version AS "activeVersion", m.revision, m.created_at AS "createdAt", m.modified_at AS "modifiedAt"`;

export interface NewEntry {
  id: string;
  key: string;
  type: ModelType;
  name: string;
  description: string | null;
  shared: boolean;
  sharedWith: readonly string[];
}

/** Undefined if the key is taken. Serials go on where a removed entry of that key stopped. */
export function insertModel(db: Queries, entry: NewEntry): Promise<Entry | undefined> {
  return db.maybeOne<Entry>(sql`
    INSERT INTO models AS m (id, key, type, name, description, shared, shared_with, last_major, created_at, modified_at)
    VALUES (${entry.id}, ${entry.key}, ${entry.type}, ${entry.name}, ${entry.description}, ${entry.shared}, ${entry.sharedWith}::text[],
            coalesce((SELECT r.last_major FROM retired_keys AS r WHERE r.key = ${entry.key}), 0), accord_now(), accord_now())
    ON CONFLICT (key) DO NOTHING
    RETURNING ${entryColumns}`);
}

/**
 * The number after the highest among keys like `processing.007`, kept for the caller until its transaction ends: without the
 * lock two creations would be given the same one.
 */
export async function nextKeyNumber(tx: Queries, type: ModelType): Promise<number> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('models.key'), hashtext(${type}))`);
  const { next } = await tx.one<{ next: number }>(sql`
    SELECT coalesce(max(substr(k.key, length(${type}) + 2)::int), 0) + 1 AS next
      FROM (SELECT m.key FROM models AS m UNION SELECT r.key FROM retired_keys AS r) AS k
     WHERE k.key ~ ('^' || ${type} || '\\.[0-9]{3,6}$')`);
  return next;
}

/** Reads an entry and locks it: every change of an entry or of its versions begins with this. */
export function lockModel(tx: Queries, id: string): Promise<Entry | undefined> {
  return tx.maybeOne<Entry>(sql`SELECT ${entryColumns} FROM models AS m WHERE m.id = ${id} FOR UPDATE`);
}

export function readModel(db: Queries, id: string): Promise<Entry | undefined> {
  return db.maybeOne<Entry>(sql`SELECT ${entryColumns} FROM models AS m WHERE m.id = ${id}`);
}

export function readModelByKey(db: Queries, key: string): Promise<Entry | undefined> {
  return db.maybeOne<Entry>(sql`SELECT ${entryColumns} FROM models AS m WHERE m.key = ${key}`);
}

export type EntryChange = Pick<Entry, 'name' | 'description' | 'shared' | 'sharedWith' | 'isDefault'>;

export function updateModel(tx: Queries, id: string, change: EntryChange): Promise<Entry> {
  return tx.one<Entry>(sql`
    UPDATE models AS m
       SET name = ${change.name}, description = ${change.description}, shared = ${change.shared},
           shared_with = ${change.sharedWith}::text[], is_default = ${change.isDefault},
           revision = m.revision + 1, modified_at = accord_now()
     WHERE m.id = ${id}
    RETURNING ${entryColumns}`);
}

/** Taken before the rows, so that two that move the mark at once wait for each other instead of blocking each other. */
export async function lockDefault(tx: Queries): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('models.default'))`);
}

/** Takes the mark from whichever entry has it. */
export async function clearDefault(tx: Queries): Promise<void> {
  await tx.query(sql`
    UPDATE models AS m SET is_default = false, revision = m.revision + 1, modified_at = accord_now() WHERE m.is_default`);
}

/** Tells that something of the entry has changed: its versions are part of it. */
export function touchModel(tx: Queries, id: string): Promise<Entry> {
  return tx.one<Entry>(sql`
    UPDATE models AS m SET revision = m.revision + 1, modified_at = accord_now() WHERE m.id = ${id} RETURNING ${entryColumns}`);
}

/** Keeps the entry, because records name it. */
export function markDeleted(tx: Queries, id: string): Promise<Entry> {
  return tx.one<Entry>(sql`
    UPDATE models AS m
       SET status = 'DELETED', is_default = false, active_version = NULL, active_major = NULL, active_minor = NULL,
           revision = m.revision + 1, modified_at = accord_now()
     WHERE m.id = ${id}
    RETURNING ${entryColumns}`);
}

/** Removes an entry with its versions; its serials stay used. */
export async function removeModel(tx: Queries, { id, key, lastMajor }: Entry): Promise<void> {
  await tx.query(sql`DELETE FROM models WHERE id = ${id}`);
  if (lastMajor > 0)
    await tx.query(sql`
      INSERT INTO retired_keys (key, last_major) VALUES (${key}, ${lastMajor})
      ON CONFLICT (key) DO UPDATE SET last_major = excluded.last_major`);
}

/** Keys of entries that were removed after an activation. */
export async function readRetiredKeys(db: Queries): Promise<Set<string>> {
  const rows = await db.query<{ key: string }>(sql`SELECT r.key FROM retired_keys AS r`);
  return new Set(rows.map(({ key }) => key));
}

/** Keys of the ACTIVE layouts that name an entry, by key or by id. */
export async function layoutsUsing(tx: Queries, { id, key }: Entry): Promise<string[]> {
  const rows = await tx.query<{ key: string }>(sql`
    SELECT m.key FROM model_versions AS v JOIN models AS m ON m.id = v.model
     WHERE v.status = 'ACTIVE' AND v.uses && ${[key, id]}::text[] AND m.id <> ${id}
     ORDER BY m.key`);
  return rows.map((row) => row.key);
}

/** What a list of models is narrowed to; an empty list narrows nothing. */
export interface ModelFilter {
  types: readonly string[];
  keys: readonly string[];
  statuses: readonly string[];
  languages: readonly string[];
  keyword?: string;
}

/** A page of entries by key, and how many there are in all. @param page starts at 0. */
export async function listModels(
  db: Queries,
  filter: ModelFilter,
  { page, size }: { page: number; size: number },
): Promise<{ entries: Entry[]; total: number }> {
  const where = join(conditions(filter), ' AND ');
  const { total } = await db.one<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM models AS m WHERE ${where}`,
  );
  const entries = await db.query<Entry>(sql`
    SELECT ${entryColumns} FROM models AS m WHERE ${where}
     ORDER BY m.key, m.id LIMIT ${size} OFFSET ${page * size}`);
  return { entries, total };
}

function conditions({ types, keys, statuses, languages, keyword }: ModelFilter): Statement[] {
  // Deleted entries are shown to those who ask for them.
  const found = [statuses.length > 0 ? sql`m.status = ANY(${statuses})` : sql`m.status <> 'DELETED'`];
  if (types.length > 0) found.push(sql`m.type = ANY(${types})`);
  if (keys.length > 0) found.push(sql`m.key = ANY(${keys})`);
  if (keyword) {
    const pattern = `%${keyword.replaceAll(/[\\%_]/g, '\\$&')}%`;
    found.push(sql`(m.key ILIKE ${pattern} OR m.name ILIKE ${pattern} OR m.description ILIKE ${pattern})`);
  }
  if (languages.length > 0)
    found.push(sql`EXISTS (
      SELECT 1 FROM model_versions AS v WHERE v.model = m.id AND v.status <> 'ARCHIVED' AND v.data ?| ${languages}::text[])`);
  return found;
}

/** Entries that a layout names, kept from being deleted until the layout is ACTIVE and protects them. */
export function lockNamed(tx: Queries, keys: readonly string[]): Promise<NamedEntry[]> {
  return tx.query<NamedEntry>(sql`
    SELECT m.id, m.key, m.type, m.status, m.is_default AS "isDefault" FROM models AS m
     WHERE m.key = ANY(${keys}) ORDER BY m.id FOR SHARE`);
}
