import type { GivenRole } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** Whom a valid link is for. */
export interface OpenLink {
  /** The invited account; null for the first account, which does not exist yet. */
  account: string | null;
  /** Its username. */
  name: string | null;
  role: GivenRole | null;
  /** Whether its person asked for it, having forgotten the password. */
  isReset: boolean;
}

/** Replaces the link for the first account; the new one is valid for one hour. */
export async function replaceFirstLink(db: Queries, digest: Buffer): Promise<void> {
  await db.query(sql`
    WITH former AS (DELETE FROM setup_links WHERE digest <> ${digest} AND account IS NULL)
    INSERT INTO setup_links (digest, expires_at) VALUES (${digest}, accord_now() + interval '1 hour')`);
}

/** Replaces the link of an account. @returns when the new one expires: in 24 hours. */
export async function replaceAccountLink(db: Queries, account: string, digest: Buffer): Promise<Date> {
  const { expiresAt } = await db.one<{ expiresAt: Date }>(sql`
    INSERT INTO setup_links AS l (digest, account, expires_at)
    VALUES (${digest}, ${account}, accord_now() + interval '24 hours')
    ON CONFLICT (account) WHERE NOT is_reset DO UPDATE SET digest = excluded.digest, expires_at = excluded.expires_at
    RETURNING l.expires_at AS "expiresAt"`);
  return expiresAt;
}

/** Links that a person has asked for and not used, at a time: so many mails at most in half an hour. */
const maxResets = 3;

/**
 * Adds a link that a person has asked for, valid for half an hour. Lock the account first.
 * @returns when it expires; undefined if there are enough of them.
 */
export async function insertResetLink(
  tx: Queries,
  account: string,
  digest: Buffer,
): Promise<Date | undefined> {
  const row = await tx.maybeOne<{ expiresAt: Date }>(sql`
    INSERT INTO setup_links AS l (digest, account, is_reset, expires_at)
    SELECT ${digest}, ${account}::uuid, true, accord_now() + interval '30 minutes'
     WHERE (SELECT count(*) FROM setup_links AS o
             WHERE o.account = ${account} AND o.is_reset AND o.expires_at > accord_now()) < ${maxResets}
    RETURNING l.expires_at AS "expiresAt"`);
  return row?.expiresAt;
}

/** Deletes expired links that people have asked for. */
export async function deleteExpiredResets(db: Queries): Promise<void> {
  await db.query(sql`DELETE FROM setup_links WHERE is_reset AND expires_at < accord_now()`);
}

/** Whether a link (`setup_links AS l`) is valid: the first account's only while there is no account. */
const isOpen = sql`
  (l.expires_at > accord_now() AND (l.account IS NOT NULL OR NOT EXISTS (SELECT FROM accounts)))`;

/** @returns undefined if the link is unknown, expired or used. */
export function findOpenLink(db: Queries, digest: Buffer): Promise<OpenLink | undefined> {
  return db.maybeOne(sql`
    SELECT l.account, a.name, a.role, l.is_reset AS "isReset" FROM setup_links AS l LEFT JOIN accounts AS a ON a.id = l.account
     WHERE l.digest = ${digest} AND ${isOpen}`);
}

/**
 * Invalidates the link. @returns false if it is unknown, expired or used; of two concurrent calls one
 * succeeds.
 */
export async function takeLink(db: Queries, digest: Buffer): Promise<boolean> {
  const row = await db.maybeOne(sql`
    DELETE FROM setup_links AS l WHERE l.digest = ${digest} AND ${isOpen} RETURNING l.digest`);
  return row !== undefined;
}

export async function deleteAccountLink(db: Queries, account: string): Promise<void> {
  await db.query(sql`DELETE FROM setup_links WHERE account = ${account}`);
}
