import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { isInForce, nextPosition } from '../person/positions-sql.ts';
import { inPieces, insertEvents } from '../transaction/events.ts';

/** A hold: nothing of the subject is erased while it is in force (docs/erasure.md). */
export interface Hold {
  reason: string;
  since: Date;
  restrict: boolean;
  until: Date | null;
}

const inForce = sql`(h.until IS NULL OR h.until > accord_now())`;

/** SQL: whether a subject has a hold in force. */
export function isHeld(subject: Statement): Statement {
  return sql`EXISTS (SELECT FROM holds AS h WHERE h.subject = ${subject} AND ${inForce})`;
}

/**
 * SQL: whether a hold restricted the use of a subject's data.
 * @param position of the person, as an earlier decision states it; if it is null, `at` alone decides.
 */
export function isRestricted(subject: Statement, at: Statement, position: Statement): Statement {
  return sql`EXISTS (
             SELECT FROM restrictions AS h
              WHERE h.subject = ${subject} AND (h.expires_at IS NULL OR h.expires_at > ${at})
                AND CASE WHEN ${position} IS NULL
                         THEN h.from_at <= ${at} AND (h.until_at IS NULL OR h.until_at > ${at})
                         ELSE h.from_position <= ${position}
                              AND (h.until_position IS NULL OR h.until_position > ${position}) END)`;
}

/** The restriction `x` that is in force. */
const restrictsNow = sql`(x.until_position IS NULL AND (x.expires_at IS NULL OR x.expires_at > accord_now()))`;

/** The hold of a subject that is in force. */
export function readHold(db: Queries, subject: string): Promise<Hold | undefined> {
  return db.maybeOne<Hold>(sql`
    SELECT h.reason, h.since, h.until,
           EXISTS (SELECT FROM restrictions AS x WHERE x.subject = h.subject AND ${restrictsNow}) AS restrict
      FROM holds AS h WHERE h.subject = ${subject} AND ${inForce}`);
}

/** Stores a hold, in place of an earlier one. The caller has locked the subject. */
export async function writeHold(
  tx: Queries,
  subject: string,
  { reason, restrict, until }: Omit<Hold, 'since'>,
): Promise<void> {
  await tx.query(sql`
    INSERT INTO holds AS h (subject, reason, since, until)
    VALUES (${subject}, ${reason}, accord_now(), ${until})
    ON CONFLICT (subject) DO UPDATE
       SET reason = excluded.reason, until = excluded.until,
           since = CASE WHEN ${inForce} THEN h.since ELSE excluded.since END`);
  if (restrict) await restrictHeld(tx, subject);
  else await endRestriction(tx, subject);
}

/**
 * Restricts the use of a held subject's data as long as its hold lasts.
 * @returns false if it was restricted before.
 */
export async function restrictHeld(tx: Queries, subject: string): Promise<boolean> {
  const before = await tx.maybeOne(sql`
    UPDATE restrictions AS x SET expires_at = h.until
      FROM holds AS h WHERE h.subject = x.subject AND x.subject = ${subject} AND ${restrictsNow}
    RETURNING x.subject`);
  if (before) return false;
  await tx.query(sql`
    WITH ${nextPosition(sql`${subject}`, null)}
    INSERT INTO restrictions (subject, from_position, from_at, expires_at)
    SELECT h.subject, p.position, accord_now(), h.until FROM holds AS h, person AS p WHERE h.subject = ${subject}`);
  return true;
}

async function endRestriction(tx: Queries, subject: string): Promise<void> {
  const found = await tx.maybeOne(sql`
    SELECT FROM restrictions AS x WHERE x.subject = ${subject} AND ${restrictsNow}`);
  if (!found) return;
  await tx.query(sql`
    WITH ${nextPosition(sql`${subject}`, null)}
    UPDATE restrictions AS x SET until_position = p.position, until_at = accord_now()
      FROM person AS p WHERE x.subject = ${subject} AND ${restrictsNow}`);
}

/** @returns whether the subject had a hold in force. */
export async function liftHold(tx: Queries, subject: string): Promise<boolean> {
  await endRestriction(tx, subject);
  const ended = await tx.maybeOne<{ held: boolean }>(sql`
    DELETE FROM holds AS h WHERE h.subject = ${subject} RETURNING ${inForce} AS held`);
  return ended?.held ?? false;
}

/** Deletes all that holds of subjects have left; none of these is in force. */
export async function forgetHolds(tx: Queries, subjects: readonly string[]): Promise<void> {
  await tx.query(sql`DELETE FROM holds AS h WHERE h.subject = ANY(${subjects}::text[])`);
  await tx.query(sql`DELETE FROM restrictions AS x WHERE x.subject = ANY(${subjects}::text[])`);
}

/** Writes `subject.restricted` with the record that is in force for each question of a subject. */
export async function tellRestriction(
  tx: Queries,
  { subject, reference }: { subject: string; reference: string },
  source: string,
): Promise<void> {
  await tx.query(restrictedEvents({ subject, reference }, source));
}

/** Inserts an event for every 50 records that are in force for the questions of a subject. */
function restrictedEvents(
  { subject, reference }: { subject: string; reference: string },
  source: string,
): Statement {
  const inForce = sql`SELECT r.id FROM records AS r WHERE r.subject = ${subject} AND ${isInForce}`;
  return insertEvents(
    {
      from: inPieces(sql`SELECT ${reference}::text AS id, n.id AS record FROM (${inForce}) AS n`),
      topic: 'accord.consents',
      key: sql`s.id`,
      type: sql`'io.accord.subject.restricted.v1'::text`,
      time: sql`accord_now()`,
      data: sql`jsonb_build_object('records', s.records)`,
    },
    source,
  );
}
