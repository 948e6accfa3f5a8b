import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import type { Position } from '#lib/http/lists.ts';
import { type AnswerGroup, addUpValid, type ValidCount } from '../domain/valid-answers.ts';
import { addDuration } from '../domain/values.ts';
import { newestPosition } from '../queries/records.ts';
import { readNow } from '../queries/transactions.ts';
import { countNewest, hasUnexpired, readRangeEnd } from '../queries/valid-answers.ts';
import { readActiveVersions } from './check-answers.ts';

/** How much one request counts. */
export interface CountLimits {
  /** Records read. */
  records: number;
  ms: number;
  /** Records per statement. */
  batch: number;
}

const defaultLimits: CountLimits = { records: 1_000_000, ms: 2_000, batch: 10_000 };

/**
 * Counts the valid answers to elements: pairs of subject and object whose newest answer is VALID.
 * @param wanted.information key of the information that the answers were given under; absent: any.
 * @param wanted.within ISO 8601: answers that expire in this period are `expiring`.
 * @param wanted.isGone whether the client has disconnected; counting stops then.
 * @returns atLeast: whether a limit was reached, so that there may be more.
 */
export async function countValidAnswers(
  { db, forms }: { db: Queries; forms: Pick<FormsOperations, 'activeVersions'> },
  wanted: { keys: readonly string[]; information?: string; within: string; isGone: () => boolean },
  limits = defaultLimits,
): Promise<{ at: Date; values: ValidCount[]; atLeast: boolean }> {
  const now = await readNow(db);
  const counting = { information: wanted.information, now, until: addDuration(now, wanted.within) };
  const stopAt = performance.now() + limits.ms;
  const groups: AnswerGroup[] = [];
  let records = 0;
  // One batch of each key in turn, so that a limit does not leave the last keys without a count.
  const waiting = [...new Set(wanted.keys)].map((key) => ({ key, after: newestPosition }));
  const isOver = () => records >= limits.records || performance.now() >= stopAt || wanted.isGone();
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
  const values = addUpValid(groups, await readActiveVersions(forms, groups), now);
  return { at: now, values, atLeast: waiting.length > 0 };
}
