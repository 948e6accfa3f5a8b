import type { Context } from 'koa';
import Negotiator from 'negotiator';
import { recordAction } from '#lib/audit/record-action.ts';
import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { linkNext, readLimit } from '#lib/http/lists.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { type ExportPlace, findPage, readExportLines, readPlace, writePlace } from '../export/lines.ts';
import { readLogSize } from '../export/lines-store.ts';
import type { Dependencies } from './handlers.ts';

const json = 'application/json';
const ndjson = 'application/x-ndjson';

/** GET /records/export (docs/evidence.md, "Export") */
export function recordsExportHandlers({ db, instance }: Dependencies) {
  return {
    async exportRecords(ctx, { query, principal }) {
      const limit = readLimit(query.limit);
      const { ids, next } = await findPage(db, await readStart(db, query), limit);
      const lines = await readExportLines(db, ids, principal);
      await recordAction(db, { action: 'records.exported', target: 'record/all' });
      const cursor = next && writePlace(next);
      if (chooseType(ctx) === json) {
        ctx.body = { values: lines, ...(cursor && { next: cursor }) };
        return;
      }
      if (cursor) linkNext(ctx, `${instance.baseUrl}/records/export`, { cursor, limit: String(limit) });
      ctx.type = ndjson;
      ctx.body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    },
  } satisfies OperationHandlers;
}

function chooseType(ctx: Context): string | undefined {
  ctx.vary('Accept');
  const accept = ctx.get('accept') || '*/*';
  return new Negotiator({ headers: { accept } }).mediaType([json, ndjson]) ?? json;
}

/** @throws Failure `malformed` */
async function readStart(db: Queries, query: Input<'exportRecords'>['query']): Promise<ExportPlace> {
  if (query.cursor !== undefined) return readPlace(query.cursor);
  if (query.logged === 'false') return { after: undefined };
  const size = await readLogSize(db);
  const until = query.to === undefined ? size : Math.min(size, readNumber(query.to, 'to'));
  const from = query.from === undefined ? 0 : Math.min(until, readNumber(query.from, 'from'));
  return { from, until, isAll: query.logged !== 'true' };
}

function readNumber(given: string, name: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw fail('malformed', `${name} must be the number of a line.`);
}
