import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** What the tries of a password are counted under. */
export interface TriedName {
  /** The name, from wherever it is tried. */
  name: Buffer;
  /** The name from one address. */
  nameAndAddress: Buffer;
}

/**
 * Counts a try before its password is looked at, in a statement of its own, so that tries at once cannot outrun the count.
 * A window of 5 minutes begins with the first try.
 * @returns how many there are in each window, this one included.
 */
export async function countTry(
  db: Queries,
  { name, nameAndAddress }: TriedName,
): Promise<{ ofName: number; ofNameAndAddress: number }> {
  const rows = await db.query<{ name_digest: Buffer; tries: number }>(sql`
    INSERT INTO sign_in_tries AS t (name_digest, of_name, tries, since)
    VALUES (${name}, NULL, 1, accord_now()), (${nameAndAddress}, ${name}, 1, accord_now())
    ON CONFLICT (name_digest) DO UPDATE
       SET tries = CASE WHEN t.since < accord_now() - interval '5 minutes' THEN 1 ELSE t.tries + 1 END,
           since = CASE WHEN t.since < accord_now() - interval '5 minutes' THEN accord_now() ELSE t.since END
    RETURNING t.name_digest, t.tries`);
  const triesOf = (digest: Buffer) => rows.find((row) => digest.equals(row.name_digest))?.tries ?? 0;
  return { ofName: triesOf(name), ofNameAndAddress: triesOf(nameAndAddress) };
}

/**
 * Reserves the next second in which a password of this name may be looked at, within the next 5 seconds.
 * @returns how many seconds it is away; undefined if all are taken.
 */
export async function reserveTry(db: Queries, name: Buffer): Promise<number | undefined> {
  const row = await db.maybeOne<{ seconds: number }>(sql`
    UPDATE sign_in_tries AS t
       SET paced_until = greatest(t.paced_until, accord_now()) + interval '1 second'
     WHERE t.name_digest = ${name} AND coalesce(t.paced_until <= accord_now() + interval '5 seconds', true)
    RETURNING extract(epoch FROM t.paced_until - interval '1 second' - accord_now())::float AS seconds`);
  return row?.seconds;
}

/** The right password was given: forgets the tries of the name from this address, and takes this one of the name back. */
export async function forgetTries(db: Queries, { name, nameAndAddress }: TriedName): Promise<void> {
  await db.query(sql`
    WITH forgotten AS (DELETE FROM sign_in_tries WHERE name_digest = ${nameAndAddress})
    UPDATE sign_in_tries AS t SET tries = t.tries - 1 WHERE t.name_digest = ${name} AND t.tries > 0`);
}

/** Forgets all tries of a name: it has another password. */
export async function forgetAllTries(db: Queries, name: Buffer): Promise<void> {
  await db.query(sql`DELETE FROM sign_in_tries WHERE name_digest = ${name} OR of_name = ${name}`);
}

/** Removes windows that are over. */
export async function removeOldTries(db: Queries): Promise<void> {
  await db.query(sql`DELETE FROM sign_in_tries WHERE since < accord_now() - interval '5 minutes'`);
}
