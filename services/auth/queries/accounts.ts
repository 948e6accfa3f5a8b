import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { Account, GivenRole } from '../domain/accounts.ts';

/** @returns undefined if an account with this name exists. */
export function insertAccount(
  db: Queries,
  { name, role, passwordHash }: { name: string; role: GivenRole; passwordHash: string },
): Promise<Account | undefined> {
  return db.maybeOne<Account>(sql`
    INSERT INTO accounts AS a (id, name, role, password_hash, created_at, changed_at)
    VALUES (${newUuid()}, ${name}, ${role}, ${passwordHash}, accord_now(), accord_now())
    ON CONFLICT (name) DO NOTHING
    RETURNING a.id, a.name, a.role`);
}

export function findAccountByName(
  db: Queries,
  name: string,
): Promise<(Account & { passwordHash: string }) | undefined> {
  return db.maybeOne(sql`
    SELECT a.id, a.name, a.role, a.password_hash AS "passwordHash" FROM accounts AS a WHERE a.name = ${name}`);
}

export function findAccountById(db: Queries, id: string): Promise<Account | undefined> {
  return db.maybeOne(sql`SELECT a.id, a.name, a.role FROM accounts AS a WHERE a.id = ${id}`);
}

export async function hasAccounts(db: Queries): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`SELECT EXISTS (SELECT FROM accounts) AS found`);
  return found;
}

export function listAccounts(db: Queries): Promise<Account[]> {
  return db.query(sql`SELECT a.id, a.name, a.role FROM accounts AS a ORDER BY a.name`);
}

/** @returns false if the account does not exist. */
export async function updatePassword(db: Queries, name: string, passwordHash: string): Promise<boolean> {
  const row = await db.maybeOne(sql`
    UPDATE accounts AS a SET password_hash = ${passwordHash}, changed_at = accord_now() WHERE a.name = ${name}
    RETURNING a.id`);
  return row !== undefined;
}

/** @returns false if the account does not exist. */
export async function deleteAccount(db: Queries, name: string): Promise<boolean> {
  const row = await db.maybeOne(sql`DELETE FROM accounts AS a WHERE a.name = ${name} RETURNING a.id`);
  return row !== undefined;
}

/** Replaces the setup link; the new one is valid for one hour. */
export async function replaceSetupLink(db: Queries, digest: Buffer): Promise<void> {
  await db.query(sql`
    WITH former AS (DELETE FROM setup_links WHERE digest <> ${digest})
    INSERT INTO setup_links (digest, expires_at) VALUES (${digest}, accord_now() + interval '1 hour')`);
}

export async function isSetupLinkOpen(db: Queries, digest: Buffer): Promise<boolean> {
  const { open } = await db.one<{ open: boolean }>(sql`
    SELECT EXISTS (SELECT FROM setup_links AS l WHERE l.digest = ${digest} AND l.expires_at > accord_now())
           AND NOT EXISTS (SELECT FROM accounts) AS open`);
  return open;
}

/**
 * Invalidates the link. @returns false if it is unknown, expired or used; of two concurrent calls one
 * succeeds.
 */
export async function takeSetupLink(db: Queries, digest: Buffer): Promise<boolean> {
  const row = await db.maybeOne(sql`
    DELETE FROM setup_links AS l
     WHERE l.digest = ${digest} AND l.expires_at > accord_now() AND NOT EXISTS (SELECT FROM accounts)
    RETURNING l.digest`);
  return row !== undefined;
}
