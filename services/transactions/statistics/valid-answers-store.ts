import { trialPrefix } from '#lib/contracts/trials.ts';
import type { Queries } from '#lib/db/database.ts';
import { empty, sql } from '#lib/db/sql.ts';
import type { Position } from '#lib/http/lists.ts';
import { isInForce } from '../person/positions-sql.ts';
import type { AnswerGroup } from './valid-answers.ts';

/** Consecutive records of a key, newest first. */
export interface RecordRange {
  key: string;
  /** The record before the range. */
  after: Position;
  /** The last record of the range. */
  last: Position;
}

/** The last record of a range, and how many records the range has. */
export interface RangeEnd extends Position {
  type: string;
  size: number;
}

/**
 * Finds the end of the next range of a key, which has at most `maxSize` records.
 * @returns undefined if no record is left.
 */
export async function readRangeEnd(
  db: Queries,
  { key, after }: Pick<RecordRange, 'key' | 'after'>,
  maxSize: number,
): Promise<RangeEnd | undefined> {
  return db.maybeOne<RangeEnd>(sql`
    SELECT n.created_at::text AS "createdAt", n.id, n.type, n.size
      FROM (SELECT r.created_at, r.id, r.type,
                   row_number() OVER (ORDER BY r.created_at DESC, r.id DESC)::int AS size
              FROM records AS r
             WHERE r.key = ${key} AND (r.created_at, r.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)
             ORDER BY r.created_at DESC, r.id DESC LIMIT ${maxSize}) AS n
     ORDER BY n.size DESC LIMIT 1`);
}

/**
 * Counts the records of a range, without trials, that have not expired and are in force, by the facts that
 * their status depends on.
 * @param information key of the information of the records. @param until records that expire by then are
 * `expiring`.
 */
export function countNewest(
  db: Queries,
  { key, after, last }: RecordRange,
  { information, now, until }: { information: string | undefined; now: Date; until: Date },
): Promise<AnswerGroup[]> {
  return db.query<AnswerGroup>(sql`
    SELECT r.key, r.type, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial",
           CASE WHEN r.type IN ('processing', 'conditions') AND r.positions IS NOT NULL THEN r.value[1] END AS answer,
           coalesce(r.expires_at <= ${until}, false) AS expiring, count(*) AS count
      FROM records AS r
     WHERE r.key = ${key} AND (r.created_at, r.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)
       AND (r.created_at, r.id) >= (${last.createdAt}::timestamptz, ${last.id}::uuid)
       AND (r.expires_at IS NULL OR r.expires_at > ${now})
       ${information === undefined ? empty : sql`AND r.info_key = ${information}`}
       AND NOT starts_with(r.subject, ${trialPrefix}) AND ${isInForce}
     GROUP BY 1, 2, 3, 4, 5, 6, 7`);
}

/** Whether a key has unexpired records after a position. Not for conditions, which never expire. */
export async function hasUnexpired(
  db: Queries,
  { key, after }: Pick<RecordRange, 'key' | 'after'>,
  now: Date,
): Promise<boolean> {
  // `r.key || ''` keeps the planner from records_key, with which it reads every expired record of the key.
  const { found } = await db.one<{ found: boolean }>(sql`
    SELECT EXISTS (
      SELECT 1 FROM records AS r
       WHERE r.expires_at > ${now} AND r.key || '' = ${key} AND r.state = 'COMMITTED'
         AND (r.created_at, r.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)) AS found`);
  return found;
}
