import type { Queries } from '#lib/db/database.ts';
import type { Statement } from '#lib/db/sql.ts';
import { empty, sql } from '#lib/db/sql.ts';
import { clock, isInForce } from '../person/positions-sql.ts';
import type { StandingAnswer } from './standing-answer.ts';

/** Columns of {@link StandingAnswer} of a record `r` and its transaction `t`. */
export const answerColumns = sql`
  r.id, r.transaction, r.object, r.key, r.type, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial",
  r.value, r.positions, r.source, r.position, r.created_at AS "givenAt", r.committed_at AS "committedAt",
  CASE WHEN t.leader IS NULL THEN r.created_at ELSE t.created_at END AS "receivedAt", t.kind, t.parent`;

/** Which questions to read; without `keys`, all that the person has answered. */
export interface Asked {
  subject: string;
  object?: string;
  keys?: readonly string[];
}

/** The answers in force; without `keys`, in the order of their objects, and then as they were given. */
export function readInForce(db: Queries, asked: Asked): Promise<StandingAnswer[]> {
  return db.query<StandingAnswer>(sql`
    SELECT ${answerColumns} FROM records AS r JOIN transactions AS t ON t.id = r.transaction
     WHERE ${about(asked)} AND ${isInForce}
     ORDER BY ${asked.keys ? placeIn(asked.keys) : sql`r.object, t.created_at, t.id, ${placeInForm}`}`);
}

/**
 * The consents that wait for a code, for peers or for their leader's decision, the newest first. Those whose
 * deadline has passed are left out.
 */
export function readWaitingConsents(db: Queries, asked: Asked): Promise<StandingAnswer[]> {
  return db.query<StandingAnswer>(sql`
    SELECT ${answerColumns} FROM transactions AS t JOIN records AS r ON r.transaction = t.id
     WHERE t.subject = ${asked.subject} AND t.state = 'SUBMITTED'
       AND (t.expires_at > accord_now() OR t.leader IS NOT NULL)
       AND r.state = 'PENDING' AND r.type <> 'preference' AND r.value = '{accepted}' AND ${about(asked)}
     ORDER BY ${asked.keys ? sql`${placeIn(asked.keys)}, r.position DESC` : sql`r.position DESC, ${placeInForm}`}`);
}

function about({ subject, object, keys }: Asked): Statement {
  return sql`r.subject = ${subject} ${object === undefined ? empty : sql`AND r.object = ${object}`}
       ${keys ? sql`AND r.key = ANY(${keys}::text[])` : empty}`;
}

/** SQL: questions are ordered as they are asked for. */
function placeIn(keys: readonly string[]): Statement {
  return sql`array_position(${keys}::text[], r.key)`;
}

/** SQL: else as the form asked them. */
const placeInForm = sql`
  array_position(ARRAY(SELECT jsonb_array_elements_text(t.layout->'elements')), r.key)`;

/** The database's time at this moment. */
export async function readClock(db: Queries): Promise<Date> {
  return (await db.one<{ now: Date }>(sql`SELECT ${clock} AS now`)).now;
}
