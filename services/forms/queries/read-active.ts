import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import type { EntryStatus, ModelType } from '../domain/model.ts';

/** An entry as forms need it at every request: one small row, its content is cached by version. */
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
export const activeColumns = sql`m.id, m.key, m.type, m.name, m.status, m.answered, m.is_default AS "isDefault",
  m.active_version AS version, m.active_major AS major, m.active_minor AS minor`;

/** What to look for: keys, and ids where a reference has the shape of one. */
export interface Wanted {
  keys: readonly string[];
  ids?: readonly string[];
  /** Also the default information. */
  withDefault?: boolean;
}

/** Entries by key, by id, and the default one. */
export function readActive(db: Queries, wanted: Wanted): Promise<ActiveRow[]> {
  return db.query<ActiveRow>(selectActive(wanted));
}

/** The same as a statement: a union, because PostgreSQL plans OR over several columns badly. */
export function selectActive({ keys, ids = [], withDefault = false }: Wanted): Statement {
  const from = sql`SELECT ${activeColumns} FROM models AS m`;
  return sql`
    ${from} WHERE m.key = ANY(${keys}::text[])
    ${ids.length > 0 ? sql`UNION ${from} WHERE m.id = ANY(${ids}::uuid[])` : empty}
    ${withDefault ? sql`UNION ${from} WHERE m.is_default` : empty}`;
}

/** Marks entries as answered: from now on records may exist. @returns how many there still are. */
export async function markAnswered(db: Queries, ids: readonly string[]): Promise<number> {
  const rows = await db.query(
    sql`UPDATE models SET answered = true WHERE id = ANY(${ids}::uuid[]) RETURNING id`,
  );
  return rows.length;
}
