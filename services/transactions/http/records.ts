import Negotiator from 'negotiator';
import { recordAction } from '#lib/audit/record-action.ts';
import { isPrivileged } from '#lib/contracts/principal.ts';
import { recordStates, recordStatuses } from '#lib/contracts/record-status.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { linkNext, readChoices, readCursor, readLimit, readTime, uuidPattern } from '#lib/http/lists.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { importRows } from '../import/import.ts';
import { readRows } from '../import/read-rows.ts';
import { type Extracted, presentCsv } from '../standing/present.ts';
import { type Extraction, extractPage, extractRecords, listRecords } from '../standing/read-records.ts';
import type { Condition, RecordFilter } from '../standing/records-store.ts';
import { readNow } from '../transaction/store.ts';
import { normaliseText } from '../transaction/values.ts';
import type { Dependencies } from './dependencies.ts';
import { listOf, readText } from './filters.ts';

const maxConditions = 20;
const defaultSize = 50;
const maxSize = 200;

/** /records, /subjects/{name}/records, /user/records */
export function recordHandlers(dependencies: Dependencies) {
  const { instance } = dependencies;
  return {
    async listRecords(ctx, { query, principal }) {
      const subject = readText(query.subject);
      if (!subject)
        throw fail('malformed', 'The query parameter subject is required.', {
          errors: [{ pointer: '/subject', code: 'required', detail: 'is required' }],
        });
      if (!isPrivileged(principal) && principal.subject !== subject)
        throw fail('forbidden', 'You may only read your own records.');
      ctx.body = await listRecords(dependencies, readRecordFilter(subject, query));
    },

    async listSubjectRecords(ctx, { params, query, principal }) {
      const subject = readText(params.name) ?? '';
      // The same answer as for an unknown subject (docs/interface.md, "Credentials").
      if (!isPrivileged(principal) && principal.subject !== subject)
        throw fail('not-found', 'Subject not found.');
      ctx.body = await listRecords(dependencies, readRecordFilter(subject, query));
    },

    /** Redirects to the caller's own records. An API key has none, but may look under its name. */
    getUserRecords(ctx, { principal }) {
      const subject = principal.subject ?? principal.name;
      ctx.status = 303;
      ctx.set('Location', `${instance.baseUrl}/records?subject=${encodeURIComponent(subject)}`);
    },

    /** Takes over answers of another system. */
    async importRecords(ctx, { body = Buffer.alloc(0), query, principal }) {
      const isCsv = ctx.request.type.toLowerCase() === 'text/csv';
      const rows = await readRows(body, isCsv, await readNow(dependencies.db));
      const isDryRun = query.dryRun === 'true';
      ctx.body = await importRows(dependencies, rows, { principal, isDryRun });
    },

    /** JSON, or CSV with the cursor of the next page in Link. */
    async extractRecords(ctx, { body, query }) {
      const extraction = readExtraction(body);
      const after = readCursor(query.cursor, uuidPattern);
      const limit = readLimit(query.limit);
      ctx.vary('Accept');
      const accept = ctx.get('accept') || '*/*';
      const type = new Negotiator({ headers: { accept } }).mediaType(['application/json', 'text/csv']);
      const isNumbered = body.page !== undefined || body.size !== undefined;
      const found: { values: Extracted[]; next?: string } = isNumbered
        ? await extractPage(dependencies, extraction, {
            page: body.page ?? 0,
            pageSize: Math.min(maxSize, body.size ?? defaultSize),
            isGone: () => ctx.res.destroyed,
          })
        : await extractRecords(dependencies, extraction, { after, limit });
      await recordAction(dependencies.db, { action: 'records.extracted', target: 'record/all' });
      if (type !== 'text/csv') {
        ctx.body = found;
        return;
      }
      if (found.next)
        linkNext(ctx, `${instance.baseUrl}/records/extraction`, { cursor: found.next, limit: String(limit) });
      ctx.type = 'text/csv; charset=utf-8';
      const keys = new Set(found.values.flatMap(({ records }) => records.map(({ bodyKey }) => bodyKey)));
      const withCommas = await dependencies.forms.withCommas({ keys: [...keys] });
      ctx.body = presentCsv(found.values, new Set(withCommas.keys));
    },
  } satisfies OperationHandlers;
}

/** @throws Failure `invalid` that names each faulty filter. */
function readRecordFilter(
  subject: string,
  query: Input<'listSubjectRecords'>['query'],
): RecordFilter & { states?: string[] } {
  const faults: Fault[] = [];
  const filter = {
    subject,
    states: readChoices(query.states, 'states', [...recordStates, ...recordStatuses], faults),
    elements: listOf(query.elements),
    infos: listOf(query.infos),
    object: readText(query.object),
    value: readText(query.value),
    after: readTime(query.after, 'after', faults),
    before: readTime(query.before, 'before', faults),
  };
  if (faults.length > 0) throw fail('invalid', 'The filter is not valid.', { errors: faults });
  return filter;
}

type ExtractionBody = Input<'extractRecords'>['body'];

/** @throws Failure `malformed` without a condition, `invalid` with a pointer for each fault. */
function readExtraction({ condition, conditions, operator = 'AND' }: ExtractionBody): Extraction {
  if (!condition && !conditions) {
    const errors = [{ pointer: '/condition', code: 'malformed', detail: 'is required' }];
    throw fail('malformed', '/condition is required.', { errors });
  }
  const faults: Fault[] = [];
  const fault = (pointer: string, code: string, detail: string) => faults.push({ pointer, code, detail });
  if (condition && conditions) fault('/conditions', 'conflict', 'must not be set beside condition');
  if (operator !== 'AND' && operator !== 'OR') fault('/operator', 'invalid', 'must be AND or OR');
  if (conditions && (conditions.length === 0 || conditions.length > maxConditions))
    fault('/conditions', 'invalid', `must have 1 to ${maxConditions} conditions`);
  if (condition?.regexpValue) fault('/condition/regexpValue', 'not-available', noRegexp);
  conditions?.forEach(({ regexpValue }, index) => {
    if (regexpValue) fault(`/conditions/${index}/regexpValue`, 'not-available', noRegexp);
  });
  if (faults.length > 0) throw fail('invalid', 'The extraction is not valid.', { errors: faults });
  if (condition) return { condition: readCondition(condition) };
  return { operator: operator === 'OR' ? 'OR' : 'AND', conditions: (conditions ?? []).map(readCondition) };
}

const noRegexp = 'must be false: regular expressions are not supported, values are compared exactly';

/** Normalises the value as answers are; an empty type or serial counts as absent. */
function readCondition({ key, value, type, serial }: NonNullable<ExtractionBody['condition']>): Condition {
  return { key, value: normaliseText(value), ...(type && { type }), ...(serial && { serial }) };
}
