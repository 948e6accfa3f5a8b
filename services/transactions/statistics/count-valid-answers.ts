import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import type { Position } from '#lib/http/lists.ts';
import { addDuration } from '#lib/text/duration.ts';
import { readActiveVersions } from '../standing/active-versions.ts';
import { newestPosition } from '../standing/records-store.ts';
import { readNow } from '../transaction/store.ts';
import { shareCounts } from './share-counts.ts';
import { type AnswerGroup, addUpValid, type ValidCount } from './valid-answers.ts';
import { countNewest, hasUnexpired, readRangeEnd } from './valid-answers-store.ts';

/** How much one request counts. */
export interface CountLimits {
  /** Records read. */
  records: number;
  ms: number;
  /** Records per statement. */
  batch: number;
  /** A count of more records is reused. */
  reusedFrom?: number;
}

const defaultLimits: CountLimits = { records: 1_000_000, ms: 2_000, batch: 10_000 };

/** What is counted. */
export interface WantedCount {
  keys: readonly string[];
  /** Key of the information that the answers were given under; absent: any. */
  information?: string;
  /** ISO 8601: answers that expire in this period are `expiring`. */
  within: string;
}

interface CountedGroups {
  at: Date;
  groups: AnswerGroup[];
  /** Records read. */
  rows: number;
  /** Whether a limit was reached, so that there may be more. */
  atLeast: boolean;
}

/**
 * Makes the function that counts the valid answers to elements: pairs of subject and object whose newest
 * answer is VALID. Requests for the same count share it while it runs, and a long one for up to a minute
 * more; versions that were activated meanwhile are considered.
 */
export function createValidCounts(
  { db, forms }: { db: Queries; forms: Pick<FormsOperations, 'activeVersions'> },
  limits: CountLimits = defaultLimits,
) {
  const count = shareCounts((wanted: WantedCount) => countGroups(db, wanted, limits), limits.reusedFrom);
  return async ({
    keys,
    information,
    within,
  }: WantedCount): Promise<{ at: Date; values: ValidCount[]; atLeast: boolean }> => {
    const { at, groups, atLeast } = await count({ keys: [...keys].sort(), information, within });
    return { at, values: addUpValid(groups, await readActiveVersions(forms, groups), at), atLeast };
  };
}

/** Reads the newest answers in batches, as many as the limits allow. */
async function countGroups(
  db: Queries,
  { keys, information, within }: WantedCount,
  limits: CountLimits,
): Promise<CountedGroups> {
  const now = await readNow(db);
  const counting = { information, now, until: addDuration(now, within) };
  const stopAt = performance.now() + limits.ms;
  const groups: AnswerGroup[] = [];
  let records = 0;
  // One batch of each key in turn, so that a limit does not leave the last keys without a count.
  const waiting = [...new Set(keys)].map((key) => ({ key, after: newestPosition }));
  const isOver = () => records >= limits.records || performance.now() >= stopAt;
  for (let range = waiting.shift(); range; range = waiting.shift()) {
    if (isOver()) {
      waiting.unshift(range);
      break;
    }
    const { key, after } = range;
    const last = await readRangeEnd(db, range, limits.batch);
    if (!last) continue;
    const counted = await countNewest(db, { key, after, last }, counting);
    groups.push(...counted);
    records += last.size;
    if (last.size < limits.batch) continue;
    const rest: { key: string; after: Position } = { key, after: last };
    const mayBeExpired = counted.length === 0 && last.type !== 'conditions';
    if (!mayBeExpired || (await hasUnexpired(db, rest, now))) waiting.push(rest);
  }
  return { at: now, groups, rows: records, atLeast: waiting.length > 0 };
}
