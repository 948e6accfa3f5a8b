import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { PersonOfAddress } from '../person/contacts-sql.ts';
import type { ShortCodes } from '../transaction/short-link.ts';
import { linkMinutes, repeatMs } from './session.ts';

/** A code is that of another link once in 10^9 times, among a million. */
const maxTries = 3;

/**
 * Makes a link to the choices of a person.
 * @param message that has the link: the same message has the same link, so that a mail that is sent again
 * does, too.
 * @returns its short URL.
 */
export async function storeChoicesLink(
  { db, shortCodes, instance }: { db: Queries; shortCodes: ShortCodes; instance: { baseUrl: string } },
  { id: person, choicesEpoch, address }: PersonOfAddress,
  message: string,
): Promise<string> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const { code, digest } = shortCodes.codeOf(`choices ${message} ${person} ${attempt}`);
    const rows = await db.query(sql`
      INSERT INTO choices_links AS l (id, digest, person, epoch, address, expires_at)
      SELECT ${newUuid()}::uuid, ${digest}::bytea, s.id, ${choicesEpoch}::integer, ${address}::bytea,
             accord_now() + ${linkMinutes} * interval '1 minute'
        FROM subjects AS s
       WHERE s.id = ${person} AND NOT EXISTS (SELECT FROM short_links AS k WHERE k.digest = ${digest})
      ON CONFLICT (digest) DO UPDATE SET expires_at = l.expires_at WHERE l.person = excluded.person
         AND l.address IS NOT DISTINCT FROM excluded.address
      RETURNING l.id`);
    if (rows.length > 0) return `${instance.baseUrl}/l/${code}`;
  }
  throw new Error('no code for a link to choices is free');
}

/** The id and the end of the link with one of these digests, whether or not it can still be opened. */
export function readChoicesLink(
  db: Queries,
  digests: readonly Buffer[],
): Promise<{ id: string; expiresAt: Date } | undefined> {
  return db.maybeOne(sql`
    SELECT l.id, l.expires_at AS "expiresAt" FROM choices_links AS l
     WHERE l.digest = ANY(${digests}::bytea[])`);
}

const isLive = sql`l.epoch = s.choices_epoch AND l.expires_at > accord_now()`;
const mayRepeat = sql`l.opened_at > accord_now() - ${repeatMs} * interval '1 millisecond'`;

/** Whether a link can be opened. */
export async function isOpenable(db: Queries, id: string): Promise<boolean> {
  const rows = await db.query(sql`
    SELECT FROM choices_links AS l JOIN subjects AS s ON s.id = l.person
     WHERE l.id = ${id} AND ${isLive} AND (l.opened_at IS NULL OR ${mayRepeat})`);
  return rows.length > 0;
}

/** A link that was opened. */
export interface OpenedLink {
  person: string;
  epoch: number;
  openedAt: Date;
  /** As in {@link PersonOfAddress}. */
  address: Buffer | null;
}

/** Opens a link for the first time. @returns undefined if it was opened, or has ended. */
export function takeChoicesLink(db: Queries, id: string): Promise<OpenedLink | undefined> {
  return db.maybeOne<OpenedLink>(sql`
    UPDATE choices_links AS l SET opened_at = date_trunc('milliseconds', accord_now())
      FROM subjects AS s
     WHERE l.id = ${id} AND s.id = l.person AND ${isLive} AND l.opened_at IS NULL
    RETURNING l.person, l.epoch, l.address, l.opened_at AS "openedAt"`);
}

/** A link that was opened just now: the same click again begins the same session. */
export function readTakenLink(db: Queries, id: string): Promise<OpenedLink | undefined> {
  return db.maybeOne<OpenedLink>(sql`
    SELECT l.person, l.epoch, l.address, l.opened_at AS "openedAt"
      FROM choices_links AS l JOIN subjects AS s ON s.id = l.person
     WHERE l.id = ${id} AND ${isLive} AND ${mayRepeat}`);
}

/** Deletes links that have ended. */
export async function deleteEndedChoicesLinks(db: Queries, limit: number): Promise<number> {
  const deleted = await db.query(sql`
    DELETE FROM choices_links AS l WHERE l.id IN (
      SELECT e.id FROM choices_links AS e WHERE e.expires_at < accord_now() ORDER BY e.expires_at LIMIT ${limit})
    RETURNING l.id`);
  return deleted.length;
}
