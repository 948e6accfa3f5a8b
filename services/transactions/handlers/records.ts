import Negotiator from 'negotiator';
import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { readChoices, readCursor, readLimit, uuidPattern } from '#lib/http/lists.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';
import {
  type Extracted,
  type Extraction,
  extractPage,
  extractRecords,
  listRecords,
} from '../commands/read-records.ts';
import { recordStates, recordStatuses } from '../domain/records.ts';
import { writeCsv } from '../presenters/records.ts';
import type { Condition } from '../queries/extraction.ts';
import type { RecordFilter } from '../queries/records.ts';
import { readText, readTime } from './filters.ts';
import type { Dependencies } from './handlers.ts';

/** GET /records?subject=… */
export function listRecordsHandler({ db, forms }: Dependencies): Handler {
  return async (ctx, { query, principal }) => {
    const subject = readText(query.subject);
    if (!subject)
      throw fail('malformed', 'The query parameter subject is required.', {
        errors: [{ pointer: '/subject', code: 'required', detail: 'is required' }],
      });
    requireOwnSubject(principal, subject);
    const { states, ...filter } = readRecordFilter(subject, query);
    ctx.body = await listRecords({ db, forms }, filter, states);
  };
}

/** GET /subjects/{name}/records */
export function listSubjectRecordsHandler({ db, forms }: Dependencies): Handler {
  return async (ctx, { params, query, principal }) => {
    const subject = readText(params.name) ?? '';
    // Another's by path looks like nobody's (docs/interface.md, "Credentials").
    if (!isPrivileged(principal) && principal.subject !== subject)
      throw fail('not-found', 'There is no such subject.');
    const { states, ...filter } = readRecordFilter(subject, query);
    ctx.body = await listRecords({ db, forms }, filter, states);
  };
}

/** GET /user/records: leads to the caller's own records. */
export function listOwnRecordsHandler({ instance }: Dependencies): Handler {
  return (ctx, { principal }) => {
    // An API key goes by its name: it may look, though no one answers under it (docs/interface.md, "Credentials").
    const subject = principal.subject ?? principal.name;
    ctx.status = 303;
    ctx.set('Location', `${instance.baseUrl}/records?subject=${encodeURIComponent(subject)}`);
  };
}

/** Another's by query is refused (docs/interface.md, "Credentials"). */
function requireOwnSubject(principal: Principal, subject: string): void {
  if (!isPrivileged(principal) && principal.subject !== subject)
    throw fail('forbidden', 'You may see your own records alone.');
}

/** @throws Failure `invalid` naming each faulty filter. */
function readRecordFilter(
  subject: string,
  query: OperationInput['query'],
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

/** A list parameter; an empty one counts as absent. */
function listOf(value: string | string[] | undefined): string[] | undefined {
  const items = [value ?? []].flat().filter((item) => item !== '');
  return items.length > 0 ? items : undefined;
}

type GivenCondition = Condition & { regexpValue?: boolean };

interface Body {
  condition?: GivenCondition;
  operator?: string;
  conditions?: GivenCondition[];
  page?: number;
  size?: number;
}

const maxConditions = 20;
const defaultSize = 50;
const maxSize = 200;

/** POST /records/extraction: JSON, or CSV with the next page's cursor in Link. */
export function extractRecordsHandler({ db, forms, instance }: Dependencies): Handler {
  return async (ctx, { body, query }: { body: Body; query: Record<string, unknown> }) => {
    const extraction = readExtraction(body);
    const after = readCursor(query.cursor, uuidPattern);
    const limit = readLimit(query.limit);
    ctx.vary('Accept');
    const accept = ctx.get('accept') || '*/*';
    const type = new Negotiator({ headers: { accept } }).mediaType(['application/json', 'text/csv']);
    const numbered = body.page !== undefined || body.size !== undefined;
    const found: { values: Extracted[]; next?: string } = numbered
      ? await extractPage({ db, forms }, extraction, {
          page: body.page ?? 0,
          pageSize: Math.min(maxSize, body.size ?? defaultSize),
          isGone: () => ctx.res.destroyed,
        })
      : await extractRecords({ db, forms }, extraction, { after, limit });
    if (type !== 'text/csv') {
      ctx.body = found;
      return;
    }
    if (found.next)
      ctx.set(
        'Link',
        `<${instance.baseUrl}/records/extraction?cursor=${found.next}&limit=${limit}>; rel="next"`,
      );
    ctx.type = 'text/csv; charset=utf-8';
    ctx.body = writeCsv(header, found.values.flatMap(toRows));
  };
}

/** @throws Failure `invalid` with a pointer for each fault. */
function readExtraction({ condition, conditions, operator = 'AND' }: Body): Extraction {
  const faults: Fault[] = [];
  const fault = (pointer: string, code: string, detail: string) => faults.push({ pointer, code, detail });
  if (condition && conditions) fault('/conditions', 'conflict', 'must not be set beside condition');
  if (operator !== 'AND' && operator !== 'OR') fault('/operator', 'invalid', 'must be AND or OR');
  if (conditions && (conditions.length === 0 || conditions.length > maxConditions))
    fault('/conditions', 'invalid', `must have 1 to ${maxConditions} conditions`);
  if (condition?.regexpValue) fault('/condition/regexpValue', 'not-available', notEvaluated);
  conditions?.forEach(({ regexpValue }, index) => {
    if (regexpValue) fault(`/conditions/${index}/regexpValue`, 'not-available', notEvaluated);
  });
  if (faults.length > 0) throw fail('invalid', 'The extraction is not valid.', { errors: faults });
  if (condition) return { condition: readCondition(condition) };
  return { operator: operator as 'AND' | 'OR', conditions: (conditions ?? []).map(readCondition) };
}

/** Empty texts count as absent. */
function readCondition({ key, value, type, serial }: GivenCondition): Condition {
  return { key, value, ...(type && { type }), ...(serial && { serial }) };
}

const notEvaluated = 'must be false: regular expressions are not evaluated, values are compared exactly';

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

function toRows({ subjectName, emailAddress, records }: Extracted): (string | number | undefined)[][] {
  return records.map((record) => [
    subjectName, emailAddress, record.bodyKey, record.bodySerial, record.value, record.object, record.creationTimestamp,
    record.expirationTimestamp, record.origin, record.author, record.transaction,
    record.leader?.location, record.leader?.id,
  ]); // biome-ignore format: one glance
}
