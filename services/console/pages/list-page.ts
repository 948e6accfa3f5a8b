import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../api/api-failure.ts';
import type { OperationId, RowOf } from '../api/api-types.ts';
import { type Act, actLinks } from './acts.ts';
import { type Columns, columnsFor } from './columns.ts';
import type { ConsoleReader } from './console-reader.ts';
import { type ReadRows, sendCsv } from './csv-export.ts';
import type { Filters } from './filters.ts';
import { largestPage } from './read-pages.ts';
import { type Column, tableView } from './table.ts';
import type { RoomTools } from './tools.ts';

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
  /** Said if nothing matches the filters; default: just that. */
  noMatch?: string;
  /** Further values that the template prints. */
  locals?: Readonly<Record<string, unknown>>;
}

/** Sends a page of a list, or with `format=csv` the whole list. */
export async function sendList<Row>(ctx: Context, tools: RoomTools, list: ListPage<Row>): Promise<void> {
  const { view, title, path = tools.path, filters, columns, read, csv, noMatch, locals } = list;
  if (csv && ctx.query.format === 'csv') {
    return sendCsv(ctx, tools.reader(ctx), { name: csv, columns, read });
  }
  const cursor = tools.cursor(ctx);
  const page = { caption: title, columns, path, filters, cursor, ...(await read(cursor)) };
  const table = tableView(tools.reader(ctx), { ...page, ...(csv && { csv: '' }) });
  await tools.page(ctx, view, { title, path, filters, table: { ...table, noMatch }, ...locals });
}

/** A list of one operation, without filters. */
interface PlainList<Id extends OperationId> {
  /** Below the path of the room. */
  path: string;
  operation: Id;
  /** Prefix of its messages: `title`, `empty`, `text` if it exists, and `new`; also names the CSV file. */
  words: string;
  columns(make: Columns<RowOf<Id>>, reader: ConsoleReader): readonly Column<RowOf<Id>>[];
  /** The operation of the form at `<path>/new`. */
  creates?: OperationId;
  /** Other pages that the list leads to, as far as the person may open them. */
  links?: readonly Act[];
}

/** Adds the page of a list. */
export function listRoute<Id extends OperationId>(
  router: Router,
  tools: RoomTools,
  list: PlainList<Id>,
): void {
  router.get(list.path, (ctx) => sendPlainList(ctx, tools, list));
}

/** Sends the page of a list, for those who may call its operation. */
export async function sendPlainList<Id extends OperationId>(
  ctx: Context,
  tools: RoomTools,
  { path: below, operation, words, columns, creates, links = [] }: PlainList<Id>,
): Promise<void> {
  tools.require(ctx, operation);
  const reader = tools.reader(ctx);
  const path = tools.path + below;
  await sendList<RowOf<Id>>(ctx, tools, {
    view: 'plain-list',
    title: reader.t(`${words}.title`),
    path,
    columns: columns(columnsFor<RowOf<Id>>(reader), reader),
    read: (cursor, limit) => tools.api(ctx).list(operation, { page: { cursor, limit } }),
    csv: words,
    locals: {
      text: reader.has(`${words}.text`) && reader.t(`${words}.text`),
      empty: reader.t(`${words}.empty`),
      newUrl: creates && tools.may(ctx, creates) && `${path}/new`,
      newWord: creates && reader.t(`${words}.new`),
      others: actLinks(ctx, tools, links),
    },
  });
}

/**
 * The entry with the id of the page's URL. @param read reads a page of the list.
 * @throws ApiFailure 404 for an entry that was deleted.
 */
export async function rowOfPath<Row extends { id: string }>(
  ctx: Context,
  read: (page: { cursor: string | undefined; limit: number }) => ReturnType<ReadRows<Row>>,
): Promise<Row> {
  const found = await findRow(
    (cursor) => read({ cursor, limit: largestPage }),
    ({ id }) => id === ctx.params.id,
  );
  if (!found) throw new ApiFailure(404, {});
  return found;
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
