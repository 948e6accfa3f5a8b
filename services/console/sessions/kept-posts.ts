import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import type { KeptPost } from './session.ts';

/** Forms that were sent after the end of a session, so that nothing that was typed is lost. */
export interface KeptPosts {
  /** @returns the id, with which only the same person gets the form back. */
  keep(person: string, post: KeptPost): Promise<string>;
  /** @returns undefined an hour later, and for another person. */
  find(id: string, person: string): Promise<KeptPost | undefined>;
  /** @returns the number of deleted posts. */
  removeOld(limit: number): Promise<number>;
}

/** @param keys `console-session`: the first seals, all open. */
export function createKeptPosts({ db, keys }: { db: Database; keys: readonly Uint8Array[] }): KeptPosts {
  const box = createSecretBox(keys, 'accord console kept posts');
  const isOld = sql`created_at < clock_timestamp() - interval '1 hour'`;
  return {
    async keep(person, post) {
      const id = randomBytes(16).toString('base64url');
      await db.query(sql`
        INSERT INTO kept_posts (id, person, sealed)
        VALUES (${hashOf(id)}, ${person}, ${box.seal(id, JSON.stringify(post))})`);
      return id;
    },
    async find(id, person) {
      const row = await db.maybeOne<{ sealed: Buffer }>(sql`
        SELECT sealed FROM kept_posts WHERE id = ${hashOf(id)} AND person = ${person} AND NOT (${isOld})`);
      return row && (JSON.parse(box.open(id, row.sealed)) as KeptPost);
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
