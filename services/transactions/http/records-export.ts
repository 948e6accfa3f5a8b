import type { Context } from 'koa';
import Negotiator from 'negotiator';
import { recordAction } from '#lib/audit/record-action.ts';
import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { writeLine } from '#lib/evidence/signed-page.ts';
import { linkNext, readLimit, uuidPattern } from '#lib/http/lists.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import {
  type ExportPlace,
  findPage,
  partOf,
  readExportLines,
  readPlace,
  writePlace,
} from '../export/lines.ts';
import { readLogSize } from '../export/lines-store.ts';
import { readModelPlace, writeModelPlace } from '../export/model-place.ts';
import type { Dependencies } from './dependencies.ts';

const json = 'application/json';
const ndjson = 'application/x-ndjson';

/** GET /records/export, GET /records/export/models (docs/evidence.md, "Export") */
export function recordsExportHandlers({ db, forms, instance, signPage }: Dependencies) {
  return {
    async exportRecords(ctx, { query, principal }) {
      const limit = readLimit(query.limit);
      const id = readExportId(query.exportId);
      const place = await readStart(db, query);
      const { ids, next } = await findPage(db, place, limit);
      const values = await readExportLines(db, ids, principal);
      await recordAction(db, { action: 'records.exported', target: 'record/all' });
      const cursor = next && writePlace(next);
      if (chooseType(ctx) === ndjson) {
        if (cursor) linkNext(ctx, `${instance.baseUrl}/records/export`, { cursor, limit: String(limit) });
        ctx.type = ndjson;
        ctx.body = values.map(writeLine).join('');
        return;
      }
      const isStart = 'after' in place && !place.after;
      const ends = { after: isStart ? null : writePlace(place), next: cursor ?? null };
      ctx.body = {
        values,
        ...(cursor && { next: cursor }),
        ...(id && { signature: signPage({ export: id, part: partOf(place), ...ends, values }) }),
      };
    },

    async exportModels(ctx, { query }) {
      const id = readExportId(query.exportId);
      const after = query.cursor === undefined ? null : readModelPlace(query.cursor);
      const { models: values, more } = await forms.exportModels({ after, limit: readLimit(query.limit) });
      const last = more ? values.at(-1) : undefined;
      const cursor = last && writeModelPlace(last);
      const ends = { after: after && writeModelPlace(after), next: cursor ?? null };
      ctx.body = {
        values,
        ...(cursor && { next: cursor }),
        ...(id && { signature: signPage({ export: id, part: 'models', ...ends, values }) }),
      };
    },
  } satisfies OperationHandlers;
}

function chooseType(ctx: Context): string | undefined {
  ctx.vary('Accept');
  const accept = ctx.get('accept') || '*/*';
  return new Negotiator({ headers: { accept } }).mediaType([json, ndjson]) ?? json;
}

/** @throws Failure `malformed` */
export function readExportId(id: string | undefined): string | undefined {
  if (id === undefined || uuidPattern.test(id)) return id;
  throw fail('malformed', 'exportId must be a UUID.');
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
