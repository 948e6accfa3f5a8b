import Negotiator from 'negotiator';
import { readCursor, readLimit, uuidPattern } from '#lib/http/cursor.ts';
import type { Handler } from '#lib/http/operation.ts';
import { type Extracted, extractRecords } from '../commands/extract-records.ts';
import { writeCsv } from '../presenters/write-csv.ts';
import type { Dependencies } from './dependencies.ts';

interface Body {
  condition: { key: string; value: string };
}

/** POST /records/extraction: JSON, or CSV with the next page's cursor in Link. */
export function extractRecordsHandler({ db, forms, instance }: Dependencies): Handler {
  return async (ctx, { body, query }: { body: Body; query: Record<string, unknown> }) => {
    const { key, value } = body.condition;
    const after = readCursor(query.cursor, uuidPattern);
    const limit = readLimit(query.limit);
    const found = await extractRecords({ db, forms }, { key, value, after, limit });
    ctx.vary('Accept');
    const accept = ctx.get('accept') || '*/*';
    if (new Negotiator({ headers: { accept } }).mediaType(['application/json', 'text/csv']) !== 'text/csv') {
      ctx.body = found;
      return;
    }
    if (found.next)
      ctx.set(
        'Link',
        `<${instance.baseUrl}/records/extraction?cursor=${found.next}&limit=${limit}>; rel="next"`,
      );
    ctx.type = 'text/csv; charset=utf-8';
    ctx.body = writeCsv(header, found.values.map(toRow));
  };
}

const header = [
  'subjectName',
  'emailAddress',
  'key',
  'serial',
  'value',
  'object',
  'creationTimestamp',
  'expirationTimestamp',
  'origin',
  'author',
  'transaction',
  'leaderLocation',
  'leaderId',
];

function toRow({ subjectName, emailAddress, record }: Extracted): (string | number | undefined)[] {
  return [
    subjectName, emailAddress, record.bodyKey, record.bodySerial, record.value, record.object, record.creationTimestamp,
    record.expirationTimestamp, record.origin, record.author, record.transaction,
    record.leader?.location, record.leader?.id,
  ]; // biome-ignore format: one glance
}
