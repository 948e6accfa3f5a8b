import { trialPrefix } from '#lib/contracts/trials.ts';
import type { Queries } from '#lib/db/database.ts';
import { empty, sql } from '#lib/db/sql.ts';
import { stateNow } from '../transaction/store.ts';
import type { AnswerCount, Period, StateCount } from './stats.ts';

/** Transactions created in a period, without trials, by days of the time zone and by their state now. */
export function countStates(db: Queries, { after, before }: Period, timeZone: string): Promise<StateCount[]> {
  return db.query<StateCount>(sql`
    WITH counted AS (
      SELECT (t.created_at AT TIME ZONE ${timeZone})::date AS day, ${stateNow} AS state
        FROM transactions AS t
       WHERE t.created_at >= ${after} AND t.created_at < ${before} AND NOT starts_with(t.subject, ${trialPrefix}))
    SELECT to_char(d.day, 'YYYY-MM-DD') AS date, c.state, count(c.state) AS count
      FROM generate_series((${after}::timestamptz AT TIME ZONE ${timeZone})::date,
                           ((${before}::timestamptz - interval '1 microsecond')
                             AT TIME ZONE ${timeZone})::date,
                           '1 day') AS d (day)
      LEFT JOIN counted AS c ON c.day = d.day
     GROUP BY d.day, c.state ORDER BY d.day`);
}

/**
 * Erased answers count. Trials do not, nor notices: they have no options, so `positions` is null.
 * @param keys the elements to count; undefined for all.
 */
export function countAnswers(
  db: Queries,
  { after, before }: Period,
  timeZone: string,
  keys: string[] | undefined,
): Promise<AnswerCount[]> {
  return db.query<AnswerCount>(sql`
    SELECT to_char(t.created_at AT TIME ZONE ${timeZone}, 'YYYY-MM-DD') AS date, r.key, r.type,
           r.value[1] AS answer, count(*) AS count, count(r.withdraws) AS withdrawn
      FROM transactions AS t JOIN records AS r ON r.transaction = t.id
     WHERE t.created_at >= ${after} AND t.created_at < ${before} AND r.committed_at IS NOT NULL
       AND NOT starts_with(t.subject, ${trialPrefix})
       AND r.type IN ('processing', 'conditions') AND r.positions IS NOT NULL
       ${keys ? sql`AND r.key = ANY(${keys}::text[])` : empty}
     GROUP BY 1, r.key, r.type, r.value[1]`);
}
