import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { csvLine } from '#lib/text/csv.ts';
import { fileName } from '#lib/text/file-name.ts';
import type { ConsoleReader } from './console-reader.ts';
import { largestPage, readPages, whileConnected } from './read-pages.ts';
import type { Column } from './table.ts';

/** Longest table that is exported, in rows. */
const maxRows = 50_000;

/** Reads one page of a list. @param cursor undefined for the first page. @param limit of rows; default 50. */
export type ReadRows<Row> = (
  cursor: string | undefined,
  limit?: number,
) => Promise<{ rows: readonly Row[]; next?: string }>;

/**
 * Sends a list as a CSV file. The first page is read before the response begins, so that a failure of the
 * API still has its status. A later failure breaks the connection, and a longer list ends with a line that
 * says so, so that a part is not taken for the whole.
 */
export async function sendCsv<Row>(
  ctx: Context,
  { number, t }: Pick<ConsoleReader, 'number' | 't'>,
  { name, columns, read }: { name: string; columns: readonly Column<Row>[]; read: ReadRows<Row> },
): Promise<void> {
  const pages = readPages((cursor) => read(cursor, largestPage), whileConnected(ctx));
  const first = await pages.next();
  sendFile(ctx, name, Readable.from(lines()));

  async function* lines() {
    yield csvText(columns, []);
    for (let count = 0, page = first; !page.done; page = await pages.next()) {
      const rows = page.value.rows.slice(0, maxRows - count);
      yield csvRows(columns, rows);
      count += rows.length;
      if (rows.length === page.value.rows.length) continue;
      yield csvLine([t('list.cut', { count: number(maxRows) })]);
      return;
    }
  }
}

/** A whole table as the text of a CSV file, with a byte order mark for spreadsheets. */
export function csvText<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  return `\ufeff${csvLine(exported(columns).map(({ label }) => label))}${csvRows(columns, rows)}`;
}

/** The name of the instance, which files have in theirs. */
export function organisationOf(ctx: Context): string {
  return ctx.state.organisation ?? '';
}

/** Sends the text of a CSV file. @param name what it is; the whole name says whose and of which day. */
export function sendFile(ctx: Context, name: string, body: string | Readable): void {
  ctx.attachment(`${fileName(organisationOf(ctx), name)}.csv`);
  ctx.body = body;
}

function csvRows<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  return rows.map((row) => csvLine(exported(columns).map(({ csv }) => csv?.(row)))).join('');
}

function exported<Row>(columns: readonly Column<Row>[]): Column<Row>[] {
  return columns.filter(({ csv }) => csv);
}
