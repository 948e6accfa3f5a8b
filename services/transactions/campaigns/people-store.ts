import { trialPrefix } from '#lib/contracts/trials.ts';
import type { Queries } from '#lib/db/database.ts';
import { empty, type Statement, sql } from '#lib/db/sql.ts';
import { isInForce } from '../person/positions-sql.ts';
import { isHeld } from '../standing/holds-store.ts';
import { newestContact } from '../transaction/newest-contact.ts';
import type { Campaign } from './campaign.ts';
import { type AnswerFacts, type PersonFacts, restDays } from './rules.ts';

/** A person with all that decides whether a campaign asks it. */
export interface Person extends Omit<PersonFacts, 'hasAddress'> {
  /** subjects.id */
  reference: string;
  name: string;
  language: string | null;
  /** E-mail address or telephone number, not checked; null if none is known. */
  address: string | null;
}

/** The people whom a campaign may ask: all that are not known from strangers alone, and no trials. */
function concerned({ id, isNamed }: Pick<Campaign, 'id' | 'isNamed'>): Statement {
  const named = sql`AND EXISTS (SELECT FROM campaign_subjects AS c WHERE c.campaign = ${id} AND c.subject = s.id)`;
  return sql`NOT s.unproven AND NOT starts_with(s.name, ${trialPrefix}) ${isNamed ? named : empty}`;
}

const addressOf: Readonly<Record<Campaign['channel'], Statement>> = {
  EMAIL: sql`coalesce(nullif(s.email_address, ''), ${newestContact('emailAddress')})`,
  SMS: newestContact('phoneNumber'),
};

/** SQL of {@link Person} for a subject `s`. */
function personColumns({
  id,
  channel,
  selection,
}: Pick<Campaign, 'id' | 'channel' | 'selection'>): Statement {
  return sql`
    s.id AS reference, s.name, s.default_language AS language, ${addressOf[channel]} AS address,
    EXISTS (SELECT FROM unsubscriptions AS u WHERE u.subject = s.id) AS "isUnsubscribed",
    (${isHeld(sql`s.name`)}
     OR EXISTS (SELECT FROM erasures AS e WHERE e.subject = s.name)) AS "isHeld",
    EXISTS (SELECT FROM campaign_members AS o
             WHERE o.subject = s.id AND o.campaign <> ${id}
               AND o.mailed_at > accord_now() - ${restDays} * interval '1 day') AS "isRecent",
    coalesce((
      SELECT jsonb_agg(jsonb_build_object(
               'object', r.object, 'key', r.key, 'type', r.type, 'serial', r.serial, 'infoKey', r.info_key,
               'infoSerial', r.info_serial, 'value', r.value, 'positions', r.positions, 'expiresAt', r.expires_at))
        FROM records AS r
       WHERE r.subject = s.name AND r.key = ANY(${selection.elements}::text[]) AND ${isInForce}), '[]') AS answers`;
}

type PersonRow = Omit<Person, 'answers'> & {
  answers: (Omit<AnswerFacts, 'expiresAt'> & { expiresAt: string | null })[];
};

function toPerson<Row extends PersonRow>({
  answers,
  ...row
}: Row): Omit<Row, 'answers'> & Pick<Person, 'answers'> {
  return {
    ...row,
    answers: answers.map((answer) => ({
      ...answer,
      expiresAt: answer.expiresAt === null ? null : new Date(answer.expiresAt),
    })),
  };
}

/** The next people whom a campaign may ask, in the order of their ids. @param after null: from the first. */
export async function readPeople(
  db: Queries,
  campaign: Campaign,
  { after, limit }: { after: string | null; limit: number },
): Promise<Person[]> {
  const rows = await db.query<PersonRow>(sql`
    SELECT ${personColumns(campaign)} FROM subjects AS s
     WHERE ${after === null ? sql`true` : sql`s.id > ${after}::uuid`} AND ${concerned(campaign)}
     ORDER BY s.id LIMIT ${limit}`);
  return rows.map(toPerson);
}

/** People by id; those that were erased are left out. */
export async function readPeopleById(
  db: Queries,
  campaign: Campaign,
  references: readonly string[],
): Promise<Map<string, Person>> {
  const rows = await db.query<PersonRow>(sql`
    SELECT ${personColumns(campaign)} FROM subjects AS s WHERE s.id = ANY(${references}::uuid[])`);
  return new Map(rows.map(toPerson).map((person) => [person.reference, person]));
}

/**
 * Locks people in the order of their ids, as `lockSubject` does; those that others have locked are left out.
 * @returns the ids of those that are locked.
 */
export async function lockPeople(tx: Queries, references: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    SELECT s.id FROM subjects AS s WHERE s.id = ANY(${references}::uuid[])
     ORDER BY s.id FOR NO KEY UPDATE SKIP LOCKED`);
  return rows.map(({ id }) => id);
}

/** The ids of people by name; unknown names are left out. */
export async function findPeople(db: Queries, names: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.query<{ id: string; name: string }>(sql`
    SELECT s.id, s.name FROM subjects AS s WHERE s.name = ANY(${names}::text[])`);
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/** Ends campaign messages to a person. Nothing happens if the person was erased. */
export async function insertUnsubscription(tx: Queries, reference: string): Promise<void> {
  await tx.query(sql`
    INSERT INTO unsubscriptions (subject, since)
    SELECT s.id, accord_now() FROM subjects AS s WHERE s.id = ${reference}::uuid
    ON CONFLICT DO NOTHING`);
  await tx.query(sql`
    UPDATE campaign_members AS m SET state = 'UNSUBSCRIBED', why = 'UNSUBSCRIBED', changed_at = accord_now()
     WHERE m.subject = ${reference}::uuid AND m.state IN ('PICKED', 'SENT', 'UNSURE')`);
}
