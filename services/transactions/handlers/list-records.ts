import type { Principal } from '#lib/contracts/principal.ts';
import { isPrivileged } from '#lib/contracts/principal.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { readChoices } from '#lib/http/read-choices.ts';
import { listRecords } from '../commands/list-records.ts';
import { recordStates, recordStatuses } from '../domain/record-status.ts';
import type { RecordFilter } from '../queries/records.ts';
import type { Dependencies } from './dependencies.ts';
import { readText, readTime } from './read-filters.ts';

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
