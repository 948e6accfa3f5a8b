import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { VersionsAt } from '#lib/contracts/versions.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Position, writeCursor } from '#lib/http/lists.ts';
import { readNow } from '../transaction/store.ts';
import { readActiveVersions } from './active-versions.ts';
import { type Extracted, type PresentedRecord, presentRecord } from './present.ts';
import {
  type Condition,
  type ExtractedRecord,
  newestPosition,
  nextStretch,
  type RecordFilter,
  readAnswersTo,
  readCandidates,
  readMatching,
  readRecords,
  type Stretch,
} from './records-store.ts';

/**
 * A subject's records by key; with an object by `<key>|<subject>|<object>` (docs/interface.md, "Records").
 * A new MAJOR takes effect at once.
 * @param filter.states states or statuses to keep; applied last, so that they never change which record is
 * the newest.
 */
export async function listRecords(
  { db, forms }: { db: Queries; forms: FormsOperations },
  { states, ...filter }: RecordFilter & { states?: readonly string[] },
): Promise<Record<string, (PresentedRecord & { basis?: 'OBJECTION' })[]>> {
  const records = await readRecords(db, filter);
  const [active, asked] = await Promise.all([
    readActiveVersions(forms, records),
    readVersions(forms, records),
  ]);
  const now = await readNow(db);
  const grouped: Awaited<ReturnType<typeof listRecords>> = Object.create(null);
  for (const record of records) {
    const isObjection = asked.versions[record.key]?.isObjection;
    const presented = {
      ...presentRecord(record, active, now),
      ...(isObjection && { basis: 'OBJECTION' as const }),
    };
    if (states && !states.includes(presented.state) && !states.includes(presented.status)) continue;
    const name = record.object === '' ? record.key : `${record.key}|${record.subject}|${record.object}`;
    grouped[name] ??= [];
    grouped[name].push(presented);
  }
  return grouped;
}

/** The entries of processings among the records, as they are asked now. */
async function readVersions(
  forms: FormsOperations,
  records: readonly { key: string; type: string }[],
): Promise<VersionsAt> {
  const keys = new Set(records.flatMap(({ key, type }) => (type === 'processing' ? key : [])));
  if (keys.size === 0) return { versions: {}, purposes: {} };
  return forms.versionsAt({ keys: [...keys], purposes: [] });
}

/** One condition finds records, several conditions find subjects with their records. */
export type Extraction = { condition: Condition } | { operator: 'AND' | 'OR'; conditions: Condition[] };

interface Dependencies {
  db: Queries;
  forms: FormsOperations;
}

/** A value and its position in the list. */
interface Found {
  position: Position;
  value: Extracted;
}

/** Answers that are looked at together. Small pages read as many too: perhaps few match, or few are valid. */
const pageStretch = 500;
const countingStretch = 2_000;

/** One page, newest records first, and the cursor of the next one (openapi.yaml, `Extraction`). */
export async function extractRecords(
  dependencies: Dependencies,
  extraction: Extraction,
  { after, limit }: { after?: Position; limit: number },
): Promise<{ values: Extracted[]; next?: string }> {
  const found: Found[] = [];
  for await (const each of findMatches(dependencies, extraction, after, pageStretch)) {
    found.push(each);
    // One result more than the page has: there is a next page.
    if (found.length > limit) break;
  }
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return {
    values: page.map(({ value }) => value),
    next: found.length > limit && last ? writeCursor(last.position) : undefined,
  };
}

/** A numbered page with totals. @param isGone whether the client has disconnected; counting stops then. */
export async function extractPage(
  dependencies: Dependencies,
  extraction: Extraction,
  { page, pageSize, isGone }: { page: number; pageSize: number; isGone: () => boolean },
) {
  const values: Extracted[] = [];
  let totalCount = 0;
  for await (const { value } of findMatches(dependencies, extraction, undefined, countingStretch)) {
    if (totalCount >= page * pageSize && values.length < pageSize) values.push(value);
    totalCount += 1;
    if (isGone()) break;
  }
  return { values, page, pageSize, totalPages: Math.ceil(totalCount / pageSize), totalCount };
}

/** All valid records that match the condition, or all subjects that match the conditions. */
async function* findMatches(
  dependencies: Dependencies,
  extraction: Extraction,
  after: Position | undefined,
  size: number,
): AsyncGenerator<Found, void> {
  if (!('condition' in extraction)) return yield* findSubjects(dependencies, extraction, after, size);
  const { db } = dependencies;
  const { condition } = extraction;
  for await (const stretch of stretches(db, [condition.key], after, size)) {
    const batch = await readMatching(db, condition, stretch);
    for (const valid of await filterValid(dependencies, batch))
      yield { position: positionOf(valid.stored), value: present([valid]) };
  }
}

/** All answers to some questions, so many to each at a time. */
async function* stretches(
  db: Queries,
  keys: readonly string[],
  from: Position = newestPosition,
  limit: number,
): AsyncGenerator<Stretch, void> {
  for (let after: Position | undefined = from; after; ) {
    const stretch: Stretch = await nextStretch(db, keys, { after, limit });
    yield stretch;
    after = stretch.to;
  }
}

/**
 * All subjects that match the conditions, each at the position of its newest valid record that matches the
 * first condition (AND) or any condition (OR).
 */
async function* findSubjects(
  dependencies: Dependencies,
  { operator, conditions }: Extract<Extraction, { conditions: Condition[] }>,
  after: Position | undefined,
  size: number,
): AsyncGenerator<Found, void> {
  const { db } = dependencies;
  const leading = operator === 'AND' ? conditions.slice(0, 1) : conditions;
  const keysOf = (some: readonly Condition[]) => [...new Set(some.map(({ key }) => key))];
  const keys = keysOf(conditions);
  for await (const stretch of stretches(db, keysOf(leading), after, size)) {
    const batch = await readCandidates(db, leading, stretch);
    const subjects = [...new Set(batch.map(({ subject }) => subject))];
    const answers = await filterValid(dependencies, await readAnswersTo(db, subjects, keys));
    const bySubject = Map.groupBy(answers, ({ stored }) => stored.subject);
    for (const candidate of batch) {
      const records = bySubject.get(candidate.subject) ?? [];
      const newest = records.find(({ stored }) => leading.some((condition) => matches(stored, condition)));
      if (newest?.stored.id !== candidate.id) continue;
      const isMet = (condition: Condition) => records.some(({ stored }) => matches(stored, condition));
      if (operator === 'AND' && !conditions.every(isMet)) continue;
      const matching = records.filter(({ stored }) =>
        conditions.some((condition) => matches(stored, condition)),
      );
      yield { position: positionOf(candidate), value: present(matching) };
    }
  }
}

function matches(record: ExtractedRecord, { key, value, type, serial }: Condition): boolean {
  return (
    record.key === key &&
    record.value.includes(value) &&
    (type === undefined || record.type === type) &&
    (serial === undefined || record.serial === serial)
  );
}

function positionOf({ position, id }: Pick<ExtractedRecord, 'position' | 'id'>): Position {
  return { createdAt: position, id };
}

interface Valid {
  stored: ExtractedRecord;
  presented: PresentedRecord;
}

async function filterValid({ db, forms }: Dependencies, batch: ExtractedRecord[]): Promise<Valid[]> {
  if (batch.length === 0) return [];
  const active = await readActiveVersions(forms, batch);
  const now = await readNow(db);
  return batch
    .map((stored) => ({ stored, presented: presentRecord(stored, active, now) }))
    .filter(({ presented }) => presented.status === 'VALID');
}

/** @param matching at least one record, newest first. */
function present(matching: readonly Valid[]): Extracted {
  const [{ stored, presented }] = matching as [Valid];
  const emailAddress = stored.emailAddress ?? undefined;
  return {
    subjectName: stored.subject,
    subjectEmail: emailAddress,
    emailAddress,
    record: presented,
    records: matching.map((each) => each.presented),
  };
}
