import type { ChoicesSession } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** The person of a session, and the database's time. */
export interface SessionPerson {
  name: string;
  now: Date;
}

/** @returns undefined if the person was erased, or has ended the session. */
export function readSessionPerson(
  db: Queries,
  { person, epoch }: Pick<ChoicesSession, 'person' | 'epoch'>,
): Promise<SessionPerson | undefined> {
  return db.maybeOne<SessionPerson>(sql`
    SELECT s.name, accord_now() AS now FROM subjects AS s
     WHERE s.id = ${person} AND s.choices_epoch = ${epoch}`);
}

/** What a session of a person begins with now; undefined if there is no such person. */
export function readNewSession(
  db: Queries,
  name: string,
): Promise<Pick<ChoicesSession, 'person' | 'epoch' | 'startedAt'> | undefined> {
  return db.maybeOne(sql`
    SELECT s.id AS person, s.choices_epoch AS epoch, date_trunc('milliseconds', accord_now()) AS "startedAt"
      FROM subjects AS s WHERE s.name = ${name}`);
}

/** Ends all sessions of a person, and all links to its choices. */
export async function endSessions(db: Queries, person: string): Promise<void> {
  await db.query(sql`UPDATE subjects AS s SET choices_epoch = s.choices_epoch + 1 WHERE s.id = ${person}`);
}
