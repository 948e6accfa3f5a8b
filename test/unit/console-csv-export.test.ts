import { EventEmitter } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Context } from 'koa';
import { describe, expect, it } from 'vitest';
import { sendCsv } from '../../services/console/pages/csv-export.ts';

/** The file of a list of so many rows, which the API gives in pages of 200. */
async function fileOf(length: number): Promise<string[]> {
  const ctx = { state: {}, attachment() {}, res: new EventEmitter(), body: undefined as never };
  const reader = { number: String, t: (key: string, values?: object) => `${key} ${JSON.stringify(values)}` };
  await sendCsv<number>(ctx as unknown as Context, reader, {
    name: 'rows',
    columns: [{ label: 'Row', text: String, csv: String } as never],
    async read(cursor = '0') {
      const rows = Array.from(
        { length: Math.min(200, length - Number(cursor)) },
        (_, i) => i + Number(cursor),
      );
      const next = Number(cursor) + 200;
      return { rows, ...(next < length && { next: String(next) }) };
    },
  });
  return (await text(ctx.body)).trimEnd().split('\r\n');
}

describe('the CSV file of a list', () => {
  it('has every row of a list that it can hold', async () => {
    expect((await fileOf(50_000)).slice(-2)).toEqual(['49998', '49999']);
    expect(await fileOf(50_000)).toHaveLength(50_001);
  });

  it.each([50_001, 50_200, 60_000])('says that it is only a part of one of %i rows', async (length) => {
    const lines = await fileOf(length);
    expect(lines).toHaveLength(50_002);
    expect(lines.slice(-2)).toEqual(['49999', expect.stringContaining('list.cut')]);
  });
});
