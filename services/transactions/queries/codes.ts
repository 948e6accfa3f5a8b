import type { Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import { type Code, maxTries, type NewCode } from '../domain/code.ts';

const columns = sql`c.number, c.mac, c.sealed, c.tries, c.created_at AS "createdAt", c.expires_at AS "expiresAt",
  c.used_at AS "usedAt"`;

/** The last code of a transaction. */
export function readCodeOf(db: Queries, transaction: string): Promise<Code | undefined> {
  return db.maybeOne<Code>(sql`SELECT ${columns} FROM codes AS c WHERE c.transaction = ${transaction}`);
}

/** A common table expression that stores the first code of the transaction in `t`. */
export function storeCode({ mac, sealed, ttl }: NewCode): Statement {
  return sql`code AS (
      INSERT INTO codes (transaction, mac, sealed, created_at, expires_at)
      SELECT t.id, ${mac}, ${sealed}::bytea, accord_now(), accord_now() + ${ttl} * interval '1 second' FROM t
    )`;
}

/**
 * Counts an attempt with a code before it is evaluated, so that parallel guesses cannot exceed the limit.
 * @returns the attempts so far; undefined if the code takes none: replaced, used, expired or exhausted.
 */
export async function takeTry(
  db: Queries,
  { transaction, number }: { transaction: string; number: number },
): Promise<number | undefined> {
  const row = await db.maybeOne<{ tries: number }>(sql`
    UPDATE codes SET tries = tries + 1
     WHERE transaction = ${transaction} AND number = ${number} AND used_at IS NULL AND tries < ${maxTries}
       AND expires_at > accord_now()
    RETURNING tries`);
  return row?.tries;
}

/** Marks a code as used. @returns false if it was used or replaced before. */
export async function markCodeUsed(
  tx: Queries,
  { transaction, number }: { transaction: string; number: number },
): Promise<boolean> {
  const row = await tx.maybeOne(sql`
    UPDATE codes SET used_at = accord_now(), sealed = NULL
     WHERE transaction = ${transaction} AND number = ${number} AND used_at IS NULL
    RETURNING number`);
  return row !== undefined;
}

/**
 * Replaces a code that was made at least `after` seconds ago.
 * @returns undefined if it was not: another request has replaced it.
 */
export function replaceCode(
  tx: Queries,
  { transaction, after, code }: { transaction: string; after: number; code: NewCode },
): Promise<Code | undefined> {
  return tx.maybeOne<Code>(sql`
    UPDATE codes AS c
       SET number = ${code.number}, mac = ${code.mac}, sealed = ${code.sealed}::bytea, tries = 0,
           created_at = accord_now(), expires_at = accord_now() + ${code.ttl} * interval '1 second'
     WHERE c.transaction = ${transaction} AND c.number = ${code.number - 1} AND c.used_at IS NULL
       AND c.created_at <= accord_now() - ${after} * interval '1 second'
    RETURNING ${columns}`);
}
