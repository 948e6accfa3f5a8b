import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { smsDestination } from './destination.ts';
import { byStranger } from './store.ts';

/** SQL: a member of the contact data of the newest of a few transactions of the person `s` that have it. */
export function newestContact(member: 'emailAddress' | 'phoneNumber'): Statement {
  return sql`(SELECT n.contact FROM (
      SELECT t.created_at, t.context->'subjectInfos'->>${member}::text AS contact FROM transactions AS t
       WHERE t.subject = s.name AND t.is_address_known AND (${byStranger} IS NOT TRUE OR t.state = 'COMMITTED')
       ORDER BY t.created_at DESC, t.id DESC LIMIT 20) AS n
     WHERE n.contact <> '' ORDER BY n.created_at DESC LIMIT 1)`;
}

/** The number to which text messages to a person go, in E.164; undefined if no valid one is known. */
export async function readKnownNumber(db: Queries, subject: string): Promise<string | undefined> {
  const found = await db.maybeOne<{ number: string | null }>(sql`
    SELECT ${newestContact('phoneNumber')} AS number FROM subjects AS s WHERE s.name = ${subject}`);
  return smsDestination(found?.number ?? '')?.to;
}
