import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** Digests under which sign-in attempts are counted. */
export interface AttemptKeys {
  /** The name, from all addresses. */
  name: Buffer;
  /** The name from one address. */
  nameAndAddress: Buffer;
}

/**
 * Counts an attempt before its password is verified, so that concurrent attempts cannot exceed the limit.
 * A window of 5 minutes starts with the first attempt.
 * @returns the number of attempts in each window, including this one.
 */
export async function countAttempt(
  db: Queries,
  { name, nameAndAddress }: AttemptKeys,
): Promise<{ ofName: number; ofNameAndAddress: number }> {
  const rows = await db.query<{ name_digest: Buffer; tries: number }>(sql`
    INSERT INTO sign_in_tries AS t (name_digest, of_name, tries, since)
    VALUES (${name}, NULL, 1, accord_now()), (${nameAndAddress}, ${name}, 1, accord_now())
    ON CONFLICT (name_digest) DO UPDATE
       SET tries = CASE WHEN t.since < accord_now() - interval '5 minutes' THEN 1 ELSE t.tries + 1 END,
           since = CASE WHEN t.since < accord_now() - interval '5 minutes' THEN accord_now() ELSE t.since END
    RETURNING t.name_digest, t.tries`);
  const attemptsOf = (digest: Buffer) => rows.find((row) => digest.equals(row.name_digest))?.tries ?? 0;
  return { ofName: attemptsOf(name), ofNameAndAddress: attemptsOf(nameAndAddress) };
}

/**
 * Reserves the next second, within 5 seconds, in which a password of this name may be verified.
 * @returns seconds to wait; undefined if none is free.
 */
export async function reserveAttempt(db: Queries, name: Buffer): Promise<number | undefined> {
  const row = await db.maybeOne<{ seconds: number }>(sql`
    UPDATE sign_in_tries AS t
       SET paced_until = greatest(t.paced_until, accord_now()) + interval '1 second'
     WHERE t.name_digest = ${name} AND coalesce(t.paced_until <= accord_now() + interval '5 seconds', true)
    RETURNING extract(epoch FROM t.paced_until - interval '1 second' - accord_now())::float AS seconds`);
  return row?.seconds;
}

/**
 * After a success: deletes the attempts of the name from this address, and uncounts this one for the name.
 */
export async function forgiveAttempt(db: Queries, { name, nameAndAddress }: AttemptKeys): Promise<void> {
  await db.query(sql`
    WITH deleted AS (DELETE FROM sign_in_tries WHERE name_digest = ${nameAndAddress})
    UPDATE sign_in_tries AS t SET tries = t.tries - 1 WHERE t.name_digest = ${name} AND t.tries > 0`);
}

/** Deletes all attempts of a name. */
export async function deleteAttempts(db: Queries, name: Buffer): Promise<void> {
  await db.query(sql`DELETE FROM sign_in_tries WHERE name_digest = ${name} OR of_name = ${name}`);
}

/** Deletes expired windows. */
export async function deleteOldAttempts(db: Queries): Promise<void> {
  await db.query(sql`DELETE FROM sign_in_tries WHERE since < accord_now() - interval '5 minutes'`);
}
