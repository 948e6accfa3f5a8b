import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { isInForce } from '../person/positions-sql.ts';
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

/** SQL: whether a hold restricts the use of a subject's data at a time. */
export function isRestricted(subject: Statement, at: Statement): Statement {
  return sql`EXISTS (
             SELECT FROM holds AS h WHERE h.subject = ${subject} AND h.restricted_at <= ${at}
                AND (h.until IS NULL OR h.until > ${at}))`;
}

/** The hold of a subject that is in force. */
export function readHold(db: Queries, subject: string): Promise<Hold | undefined> {
  return db.maybeOne<Hold>(sql`
    SELECT h.reason, h.since, h.restricted_at IS NOT NULL AS restrict, h.until
      FROM holds AS h WHERE h.subject = ${subject} AND ${inForce}`);
}

/** Stores a hold, in place of an earlier one. The caller has locked the subject. */
export async function writeHold(
  tx: Queries,
  subject: string,
  { reason, restrict, until }: Omit<Hold, 'since'>,
): Promise<void> {
  await tx.query(sql`
    INSERT INTO holds AS h (subject, reason, since, restricted_at, until)
    VALUES (${subject}, ${reason}, accord_now(), CASE WHEN ${restrict} THEN accord_now() END, ${until})
    ON CONFLICT (subject) DO UPDATE
       SET reason = excluded.reason, until = excluded.until,
           since = CASE WHEN ${inForce} THEN h.since ELSE excluded.since END,
           restricted_at = CASE WHEN ${restrict} AND ${inForce}
                                THEN coalesce(h.restricted_at, excluded.restricted_at)
                                ELSE excluded.restricted_at END`);
}

/** Restricts the use of a held subject's data. @returns false if it was restricted before. */
export async function restrictHeld(tx: Queries, subject: string): Promise<boolean> {
  const changed = await tx.maybeOne(sql`
    UPDATE holds AS h SET restricted_at = accord_now()
     WHERE h.subject = ${subject} AND h.restricted_at IS NULL
    RETURNING h.subject`);
  return changed !== undefined;
}

/** @returns whether the subject had a hold in force. */
export async function deleteHold(tx: Queries, subject: string): Promise<boolean> {
  const ended = await tx.maybeOne<{ held: boolean }>(sql`
    DELETE FROM holds AS h WHERE h.subject = ${subject} RETURNING ${inForce} AS held`);
  return ended?.held ?? false;
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
