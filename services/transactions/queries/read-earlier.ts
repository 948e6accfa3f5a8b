import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { EarlierRecord } from '../domain/earlier-answers.ts';

/** SQL of the newest committed record for `element.key`: one index probe, however many answers the subject gave before. */
export function newestRecord(subject: Statement, object: Statement): Statement {
  return sql`
    SELECT r.key, r.type, r.serial, r.info_key AS "infoKey", r.info_serial AS "infoSerial", r.value, r.positions,
           r.committed_at AS "committedAt", r.expires_at AS "expiresAt"
      FROM records AS r
     WHERE r.state = 'COMMITTED' AND r.subject = ${subject} AND r.object = ${object} AND r.key = element.key
     ORDER BY r.committed_at DESC, r.id DESC
     LIMIT 1`;
}

/** The newest committed record of a subject and object for each key that has one. */
export async function readEarlier(
  db: Queries,
  subject: string,
  object: string,
  keys: readonly string[],
): Promise<EarlierRecord[]> {
  return db.query<EarlierRecord>(sql`
    SELECT newest.* FROM unnest(${keys}::text[]) AS element (key)
     CROSS JOIN LATERAL (${newestRecord(sql`${subject}`, sql`${object}`)}) AS newest`);
}
