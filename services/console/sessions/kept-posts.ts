import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import type { KeptPost } from './session.ts';

/** Forms that were sent after the end of a session, so that nothing that was typed is lost. */
export interface KeptPosts {
  /**
   * Of a person the newest are kept, because the cookie of a session that has ended can send any number.
   * @returns the id, with which only the same person gets the form back.
   */
  keep(person: string, post: KeptPost): Promise<string>;
  /** @returns undefined an hour later, and for another person. */
  find(id: string, person: string): Promise<KeptPost | undefined>;
  /** As `find`, once. */
  take(id: string, person: string): Promise<KeptPost | undefined>;
  /** @returns the number of deleted posts. */
  removeOld(limit: number): Promise<number>;
}

/** Forms that are kept of a person and of all people; each has at most 1 MB. */
const [maxOfPerson, maxOfAll] = [20, 500];

/** @param keys `console-session`: the first seals, all open. */
export function createKeptPosts({ db, keys }: { db: Database; keys: readonly Uint8Array[] }): KeptPosts {
  const box = createSecretBox(keys, 'accord console kept posts');
  const isOld = sql`created_at < clock_timestamp() - interval '1 hour'`;
  const open = (id: string, row: { sealed: Buffer } | undefined) =>
    row && (JSON.parse(box.open(id, row.sealed)) as KeptPost);
  const isKept = (id: string, person: string) =>
    sql`id = ${hashOf(id)} AND person = ${person} AND NOT (${isOld})`;
  return {
    async keep(person, post) {
      const id = randomBytes(16).toString('base64url');
      await db.query(sql`
        INSERT INTO kept_posts (id, person, sealed)
        VALUES (${hashOf(id)}, ${person}, ${box.seal(id, JSON.stringify(post))})`);
      await db.query(sql`
        DELETE FROM kept_posts
         WHERE id IN (SELECT id FROM kept_posts WHERE person = ${person}
                       ORDER BY created_at DESC OFFSET ${maxOfPerson})
            OR id IN (SELECT id FROM kept_posts ORDER BY created_at DESC OFFSET ${maxOfAll})`);
      return id;
    },
    async find(id, person) {
      const where = isKept(id, person);
      return open(
        id,
        await db.maybeOne<{ sealed: Buffer }>(sql`SELECT sealed FROM kept_posts WHERE ${where}`),
      );
    },
    async take(id, person) {
      const where = isKept(id, person);
      return open(
        id,
        await db.maybeOne<{ sealed: Buffer }>(sql`DELETE FROM kept_posts WHERE ${where} RETURNING sealed`),
      );
    },
    async removeOld(limit) {
      const rows = await db.query(sql`
        DELETE FROM kept_posts
         WHERE id IN (SELECT id FROM kept_posts WHERE ${isOld} LIMIT ${limit}) RETURNING 1`);
      return rows.length;
    },
  };
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
