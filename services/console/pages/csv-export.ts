import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { csvLine } from '#lib/text/csv.ts';
import type { Column } from './table.ts';

/** Longest table that is exported, in rows. */
const maxRows = 50_000;

/** Reads one page of a list. @param cursor undefined for the first page. */
export type ReadRows<Row> = (cursor: string | undefined) => Promise<{ rows: readonly Row[]; next?: string }>;

/**
 * Sends a list as a CSV file, with a byte order mark for spreadsheets. The first page is read before the
 * response begins, so that a failure of the API still has its status.
 */
export async function sendCsv<Row>(
  ctx: Context,
  name: string,
  columns: readonly Column<Row>[],
  read: ReadRows<Row>,
): Promise<void> {
  const exported = columns.filter(({ csv }) => csv);
  const first = await read(undefined);
  ctx.attachment(`${name}.csv`);
  ctx.body = Readable.from(lines());

  async function* lines() {
    yield `\ufeff${csvLine(exported.map(({ label }) => label))}`;
    let page = first;
    for (let count = 0; ; ) {
      const rows = page.rows.slice(0, maxRows - count);
      count += rows.length;
      yield rows.map((row) => csvLine(exported.map(({ csv }) => csv?.(row)))).join('');
      if (!page.next || count >= maxRows) return;
      page = await read(page.next);
    }
  }
}
