import { type Fault, fail } from '#lib/errors/fail.ts';
import { readTime } from '#lib/http/lists.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { longestValidity, readDuration } from '#lib/text/duration.ts';
import { createValidCounts } from '../statistics/count-valid-answers.ts';
import { shareCounts } from '../statistics/share-counts.ts';
import {
  type AnswerCount,
  composeStats,
  type Period,
  type StateCount,
  splitPeriod,
} from '../statistics/stats.ts';
import { countAnswers, countStates } from '../statistics/store.ts';
import { readNow } from '../transaction/store.ts';
import { invalid } from '../transaction/values.ts';
import type { Dependencies } from './dependencies.ts';
import { listOf, readText } from './filters.ts';

const dayMs = 24 * 60 * 60 * 1000;
const defaultDays = 30;
const maxDays = 366;
const partDays = 7;
const maxKeys = 200;
const defaultWithin = 'P30D';

/** /stats, /stats/valid */
export function statsHandlers({ db, forms, instance }: Dependencies) {
  const countValid = createValidCounts({ db, forms });
  const countPeriod = shareCounts(async ({ keys, ...query }: WantedStats) => {
    const period = readPeriod(query, await readNow(db));
    const { timeZone } = instance;
    const counted: StateCount[] = [];
    const answered: AnswerCount[] = [];
    // Part by part, because a year of a large instance takes longer than the time-out of a statement.
    for (const part of splitPeriod(period, partDays)) {
      const [states, answers] = await Promise.all([
        countStates(db, part, timeZone),
        countAnswers(db, part, timeZone, keys),
      ]);
      counted.push(...states);
      answered.push(...answers);
    }
    const rows = [...counted, ...answered].reduce((sum, { count }) => sum + count, 0);
    return { rows, period, stats: { timeZone, ...composeStats(counted, answered) } };
  });
  return {
    async getStats(ctx, { query: { after, before, elements } }) {
      const { period, stats } = await countPeriod({ after, before, keys: listOf(elements)?.sort() });
      ctx.body = {
        after: period.after.toISOString(),
        before: period.before.toISOString(),
        ...stats,
      };
    },

    async countValidAnswers(ctx, { query }) {
      const counted = await countValid(readValidQuery(query));
      ctx.body = { ...counted, at: counted.at.toISOString() };
    },
  } satisfies OperationHandlers;
}

type Query = Input<'getStats'>['query'];

/** What is counted: a period, and the answers to some elements or to all. */
interface WantedStats extends Pick<Query, 'after' | 'before'> {
  keys: string[] | undefined;
}

/** @throws Failure `invalid` for an empty period or one longer than a year. */
function readPeriod(query: Pick<Query, 'after' | 'before'>, now: Date): Period {
  const faults: Fault[] = [];
  const before = readTime(query.before, 'before', faults) ?? now;
  const after = readTime(query.after, 'after', faults) ?? new Date(before.getTime() - defaultDays * dayMs);
  const days = (before.getTime() - after.getTime()) / dayMs;
  if (faults.length === 0 && (days <= 0 || days > maxDays))
    faults.push(invalid('/after', `must be before the end of the period, by at most ${maxDays} days`));
  if (faults.length > 0) throw fail('invalid', 'The period is not valid.', { errors: faults });
  return { after, before };
}

/** @throws Failure `malformed` without keys, `invalid` for too many keys or a wrong period. */
function readValidQuery(query: Input<'countValidAnswers'>['query']) {
  const keys = listOf(query.keys) ?? [];
  if (keys.length === 0)
    throw fail('malformed', 'The query parameter keys is required.', {
      errors: [{ pointer: '/keys', code: 'required', detail: 'is required' }],
    });
  const faults: Fault[] = [];
  if (keys.length > maxKeys) faults.push(invalid('/keys', `must be at most ${maxKeys} keys`));
  const within = readDuration(readText(query.within) ?? defaultWithin, longestValidity);
  if ('fault' in within) faults.push(invalid('/within', within.fault));
  if ('fault' in within || faults.length > 0)
    throw fail('invalid', 'The query is not valid.', { errors: faults });
  return { keys, information: readText(query.information), within: within.text };
}
