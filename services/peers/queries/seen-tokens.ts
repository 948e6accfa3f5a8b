import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Peer } from '../domain/peer.ts';
import { hurried, isQuiet } from './peers.ts';

/** Who has sent a request, as far as its handler needs to know. */
export type Sender = Pick<Peer, 'id' | 'url' | 'name' | 'state' | 'subjectPrefix'>;

/** isFirst: exactly one of all who try gets true, whichever replica they ask. */
export type Admission = Sender & { isFirst: boolean };

/**
 * Uses up a token's id, and notes that its peer was heard of, if it is paired. One statement: each request of a peer begins with it.
 * @param kid of the key that has signed it.
 * @returns the peer; undefined if the key is not pinned for it any more.
 */
export function admitToken(
  db: Queries,
  { url, kid, jti, expiresAt }: { url: string; kid: string; jti: string; expiresAt: Date },
): Promise<Admission | undefined> {
  return db.maybeOne(sql`
    WITH known AS (
           SELECT p.id, p.url, p.name, p.state, p.subject_prefix AS "subjectPrefix"
             FROM peers AS p JOIN peer_keys AS k ON k.peer = p.id
            WHERE p.url = ${url} AND k.kid = ${kid} AND k.use = 'sig'),
         used AS (
           INSERT INTO seen_tokens (peer, jti, expires_at) SELECT k.id, ${jti}, ${expiresAt} FROM known AS k
           ON CONFLICT DO NOTHING RETURNING peer),
         heard AS (
           SELECT p.id FROM used AS u JOIN peers AS p ON p.id = u.peer WHERE p.state = 'PAIRED'),
         ${hurried(sql`p.id = (SELECT h.id FROM heard AS h)`)},
         touched AS (
           UPDATE peers AS p SET last_contact_at = accord_now() FROM heard AS h WHERE p.id = h.id AND ${isQuiet})
    SELECT k.*, EXISTS (SELECT FROM used) AS "isFirst" FROM known AS k`);
}

/** Forgets ids that could not be good again. */
export async function forgetTokenIds(db: Queries): Promise<void> {
  await db.query(sql`DELETE FROM seen_tokens AS s WHERE s.expires_at < accord_now()`);
}
