import type { Queries } from '#lib/db/database.ts';
import { type Statement as Sql, sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { isEntered, storeContacts } from './contacts-sql.ts';

/** SQL: whether the record `r` is in force; the index records_in_force. */
export const isInForce = sql`
  (r.state = 'COMMITTED' AND r.from_position IS NOT NULL AND r.until_position IS NULL)`;

/**
 * SQL: a common table expression that takes the next position of a person, and locks the person as
 * {@link lockSubject} does.
 * @param seen no row if another statement of the person was stored since this position was read; null: the
 * caller has locked the person.
 * @param isCommit whether answers take effect: their person is not known from strangers alone any more.
 */
export function nextPosition(subject: Sql, seen: number | null, isCommit = false): Sql {
  return sql`person AS (
      UPDATE subjects AS p SET position = nextval('positions'), unproven = p.unproven AND NOT ${isCommit}::boolean
       WHERE p.name = ${subject} AND p.position = coalesce(${seen}::bigint, p.position)
      RETURNING p.position
    )`;
}

/**
 * As {@link nextPosition}, for a transaction that is created and committed in one statement: stores the
 * person if it is new.
 */
export function storePerson(
  { subject, context, createdAt, createdBy, isAddressKnown }: NewPerson,
  seen: number | null,
): Sql {
  return sql`person AS (
      INSERT INTO subjects AS p (id, name, email_address, default_language, created_at, modified_at, position)
      VALUES (${newUuid()}, ${subject}, ${context.subjectInfos?.emailAddress ?? null},
              ${context.language ?? null}, ${createdAt}, ${createdAt}, nextval('positions'))
      ON CONFLICT (name) DO UPDATE SET position = excluded.position, unproven = false
       WHERE p.position = coalesce(${seen}::bigint, p.position)
      RETURNING p.name, p.position
    ), ${storeContacts({
      subject: sql`p.name`,
      infos: sql`${JSON.stringify(context.subjectInfos ?? {})}::jsonb`,
      from: sql`person AS p`,
      isProven: isEntered({
        createdBy: sql`${createdBy}::text`,
        isAddressKnown: sql`${isAddressKnown}::boolean`,
      }),
    })}`;
}

interface NewPerson {
  subject: string;
  createdBy: string | null;
  isAddressKnown: boolean;
  context: { subjectInfos?: { emailAddress?: string | null }; language?: string | null };
  createdAt: Date;
}

/** SQL: the database's time at this moment, also within a database transaction that has waited. */
export const clock = sql`(clock_timestamp() + (accord_now() - now()))`;

/**
 * Locks a person until the end of the database transaction. All that stores statements of the person, holds
 * or erases its data, or creates its transactions waits, and what was stored before is seen afterwards.
 */
export async function lockSubject(tx: Queries, subject: string): Promise<void> {
  await tx.query(sql`SELECT FROM subjects AS s WHERE s.name = ${subject} FOR NO KEY UPDATE`);
}

/** {@link lockSubject} for the person of a transaction. */
export async function lockSubjectOf(tx: Queries, transaction: string): Promise<void> {
  await tx.query(sql`
    SELECT FROM transactions AS t JOIN subjects AS s ON s.name = t.subject
     WHERE t.id = ${transaction} FOR NO KEY UPDATE OF s`);
}
