import type { Queries } from '#lib/db/database.ts';
import { join, type Statement, sql } from '#lib/db/sql.ts';
import type { Entry } from '../domain/model.ts';
import { entryColumns } from './models.ts';

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
