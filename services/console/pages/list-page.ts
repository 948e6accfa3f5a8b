import type { Context } from 'koa';
import type { ApiReply } from '../api/api-types.ts';
import { type ReadRows, sendCsv } from './csv-export.ts';
import type { Filters } from './filters.ts';
import type { RoomKit } from './kit.ts';
import { type Column, tableView } from './table.ts';

/** A page that is a list, with what may be done from it. */
export interface ListPage<Row> {
  /** Its template, which prints `table`. */
  view: string;
  title: string;
  /** Default: the path of the room. */
  path?: string;
  filters?: Filters;
  columns: readonly Column<Row>[];
  read: ReadRows<Row>;
  /** Name of the CSV file; without one the list is not exported. */
  csv?: string;
  /** Further values that the template prints. */
  locals?: Readonly<Record<string, unknown>>;
}

/** Sends a page of a list, or with `format=csv` the whole list. */
export async function sendList<Row>(ctx: Context, kit: RoomKit, list: ListPage<Row>): Promise<void> {
  const { view, title, path = kit.path, filters, columns, read, csv, locals } = list;
  if (csv && ctx.query.format === 'csv') return sendCsv(ctx, csv, columns, read);
  const cursor = kit.cursor(ctx);
  const page = { caption: title, columns, path, filters, cursor, ...(await read(cursor)) };
  const table = tableView(kit.reader(ctx), { ...page, ...(csv && { csv: '' }) });
  await kit.page(ctx, view, { title, path, filters, table, ...locals });
}

/** The rows of a reply of the API: its body, or the member `values`. */
export async function rowsOf<Row>(
  reply: Promise<ApiReply<Row[] | { values: Row[]; next?: string }>>,
): Promise<{ rows: Row[]; next?: string }> {
  const { body, next } = await reply;
  return Array.isArray(body) ? { rows: body, next } : { rows: body.values, next: body.next };
}

/** The first row of a list that fits; undefined without one. */
export async function findRow<Row>(
  read: ReadRows<Row>,
  isWanted: (row: Row) => boolean,
): Promise<Row | undefined> {
  for (let cursor: string | undefined; ; ) {
    const { rows, next } = await read(cursor);
    const found = rows.find(isWanted);
    if (found || !next) return found;
    cursor = next;
  }
}
