import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/**
 * Counts a try before its password is looked at, in a statement of its own, so that tries at once cannot outrun the count
 * (security.md, "Codes"). A window of 5 minutes begins with the first try.
 * @returns how many there are in the window, this one included.
 */
export async function countTry(db: Queries, nameDigest: Buffer): Promise<number> {
  const { tries } = await db.one<{ tries: number }>(sql`
    INSERT INTO sign_in_tries AS t (name_digest, tries, since) VALUES (${nameDigest}, 1, accord_now())
    ON CONFLICT (name_digest) DO UPDATE
       SET tries = CASE WHEN t.since < accord_now() - interval '5 minutes' THEN 1 ELSE t.tries + 1 END,
           since = CASE WHEN t.since < accord_now() - interval '5 minutes' THEN accord_now() ELSE t.since END
    RETURNING t.tries`);
  return tries;
}

/** Forgets the tries of a name: the right password was given. */
export async function forgetTries(db: Queries, nameDigest: Buffer): Promise<void> {
  await db.query(sql`DELETE FROM sign_in_tries WHERE name_digest = ${nameDigest}`);
}

/** Removes windows that are over. */
export async function removeOldTries(db: Queries): Promise<void> {
  await db.query(sql`DELETE FROM sign_in_tries WHERE since < accord_now() - interval '5 minutes'`);
}
