import type { Queries } from '#lib/db/database.ts';
import { empty, join, type Statement, sql } from '#lib/db/sql.ts';
import type { Entry, ModelOrder, ModelPosition, ModelType } from '../domain/model.ts';
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

/**
 * Inserts an entry; undefined if the key is taken. Serials continue where a removed entry with that key
 * stopped.
 */
export function insertModel(db: Queries, entry: NewEntry): Promise<Entry | undefined> {
  return db.maybeOne<Entry>(sql`
    INSERT INTO models AS m (id, key, type, name, description, shared, shared_with, last_major, created_at, modified_at)
    VALUES (${entry.id}, ${entry.key}, ${entry.type}, ${entry.name}, ${entry.description}, ${entry.shared}, ${entry.sharedWith}::text[],
            coalesce((SELECT r.last_major FROM retired_keys AS r WHERE r.key = ${entry.key}), 0), accord_now(), accord_now())
    ON CONFLICT (key) DO NOTHING
    RETURNING ${entryColumns}`);
}

/**
 * The next number of keys such as `processing.007`. A lock until the end of the transaction keeps two
 * creations from getting the same number.
 */
export async function nextKeyNumber(tx: Queries, type: ModelType): Promise<number> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('models.key'), hashtext(${type}))`);
  const { next } = await tx.one<{ next: number }>(sql`
    SELECT coalesce(max(substr(k.key, length(${type}) + 2)::int), 0) + 1 AS next
      FROM (SELECT m.key FROM models AS m UNION SELECT r.key FROM retired_keys AS r) AS k
     WHERE k.key ~ ('^' || ${type} || '\\.[0-9]{3,6}$')`);
  return next;
}

/** Reads and locks an entry. Every change of an entry or of its versions starts with it. */
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

/** Lock for moving the default mark. It is taken before the row locks, so that two moves cannot deadlock. */
export async function lockDefault(tx: Queries): Promise<void> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('models.default'))`);
}

/** Clears the default mark. */
export async function clearDefault(tx: Queries): Promise<void> {
  await tx.query(sql`
    UPDATE models AS m SET is_default = false, revision = m.revision + 1, modified_at = accord_now() WHERE m.is_default`);
}

/** Increments the revision of an entry; its versions are part of it. */
export function touchModel(tx: Queries, id: string): Promise<Entry> {
  return tx.one<Entry>(sql`
    UPDATE models AS m SET revision = m.revision + 1, modified_at = accord_now() WHERE m.id = ${id} RETURNING ${entryColumns}`);
}

/** Marks an entry DELETED; it is kept, because records refer to it. */
export function markDeleted(tx: Queries, id: string): Promise<Entry> {
  return tx.one<Entry>(sql`
    UPDATE models AS m
       SET status = 'DELETED', is_default = false, active_version = NULL, active_major = NULL, active_minor = NULL,
           revision = m.revision + 1, modified_at = accord_now()
     WHERE m.id = ${id}
    RETURNING ${entryColumns}`);
}

/** Removes an entry with its versions. Its serials are not used again. */
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

/** Keys of the ACTIVE layouts that refer to an entry, by key or id. */
export async function layoutsUsing(tx: Queries, { id, key }: Entry): Promise<string[]> {
  const rows = await tx.query<{ key: string }>(sql`
    SELECT m.key FROM model_versions AS v JOIN models AS m ON m.id = v.model
     WHERE v.status = 'ACTIVE' AND v.uses && ${[key, id]}::text[] AND m.id <> ${id}
     ORDER BY m.key`);
  return rows.map((row) => row.key);
}

/** Filters of the list of models; an empty list filters nothing. */
export interface ModelFilter {
  types: readonly string[];
  keys: readonly string[];
  statuses: readonly string[];
  languages: readonly string[];
  /** References, and `@<host>` for any reference to this peer. */
  uses: readonly string[];
  /** Statuses of the versions in which `uses` is looked for. */
  usesIn: readonly string[];
  shared?: boolean;
  /** Whether there is a DRAFT version. */
  draft?: boolean;
  keyword?: string;
}

/** SQL of an order: the sorted column, as text for cursors, and the type to compare it as. */
const orders = {
  key: { column: sql`m.key`, type: sql`text`, isDescending: false },
  name: { column: sql`m.name`, type: sql`text`, isDescending: false },
  '-modificationDate': { column: sql`m.modified_at`, type: sql`timestamptz`, isDescending: true },
} as const satisfies Record<ModelOrder, object>;

/** An entry in a list, with the value that the list is sorted by. */
export type ListedEntry = Entry & { position: string };

/**
 * A page of entries, and the total.
 * @param page.after the end of the previous page, which replaces the number. @param page.number starts at 0.
 * @returns entries: one more than `size` if there is a next page.
 */
export async function listModels(
  db: Queries,
  filter: ModelFilter,
  page: { order: ModelOrder; after: ModelPosition | undefined; number: number; size: number },
): Promise<{ entries: ListedEntry[]; total: number }> {
  const where = join(conditions(filter), ' AND ');
  const { total } = await db.one<{ total: number }>(
    sql`SELECT count(*)::int AS total FROM models AS m WHERE ${where}`,
  );
  const { after, size } = page;
  const { column, type, isDescending } = orders[page.order];
  const [direction, compare] = isDescending ? [sql`DESC`, sql`<`] : [sql`ASC`, sql`>`];
  const rest = after
    ? sql`AND (${column}, m.id) ${compare} (${after.value}::${type}, ${after.id}::uuid)`
    : empty;
  const entries = await db.query<ListedEntry>(sql`
    SELECT ${entryColumns}, ${column}::text AS position FROM models AS m WHERE ${where} ${rest}
     ORDER BY ${column} ${direction}, m.id ${direction}
     LIMIT ${size + 1} OFFSET ${after ? 0 : page.number * size}`);
  return { entries, total };
}

function conditions({ types, keys, statuses, languages, ...filter }: ModelFilter): Statement[] {
  const { uses, shared, draft, keyword } = filter;
  // Deleted entries are listed only on request.
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
  if (shared !== undefined) found.push(sql`m.shared = ${shared}`);
  if (draft !== undefined)
    found.push(sql`${draft} = EXISTS (
      SELECT 1 FROM model_versions AS v WHERE v.model = m.id AND v.status = 'DRAFT')`);
  if (uses.length > 0) found.push(sql`m.type = 'layout' AND EXISTS (${versionUsing(filter)})`);
  return found;
}

/** SQL of the versions of `m` that name one of the references. */
function versionUsing({ uses, usesIn }: Pick<ModelFilter, 'uses' | 'usesIn'>): Statement {
  const hosts = uses.filter((each) => each.startsWith('@'));
  const references = uses.filter((each) => !each.startsWith('@'));
  // A layout may name a theme and an e-mail by id.
  return sql`
    SELECT 1 FROM model_versions AS v CROSS JOIN LATERAL unnest(v.uses) AS u (reference)
     WHERE v.model = m.id AND v.status = ANY(${usesIn})
       AND (u.reference = ANY(${references}::text[])
            OR u.reference IN (SELECT n.id::text FROM models AS n WHERE n.key = ANY(${references}::text[]))
            OR '@' || nullif(split_part(u.reference, '@', 2), '') = ANY(${hosts}::text[]))`;
}

/**
 * Reads the entries of a layout and locks them against deletion until the layout is ACTIVE and protects them.
 */
export function lockNamed(tx: Queries, keys: readonly string[]): Promise<NamedEntry[]> {
  return tx.query<NamedEntry>(sql`
    SELECT m.id, m.key, m.type, m.status, m.is_default AS "isDefault" FROM models AS m
     WHERE m.key = ANY(${keys}) ORDER BY m.id FOR SHARE`);
}
