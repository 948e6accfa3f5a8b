import type { GivenRole } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { appearanceOf } from '#lib/text/appearance.ts';
import type { Account } from '../domain/accounts.ts';

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

/** An account with the hash of its password. */
export interface AccountWithPassword extends Account {
  passwordHash: string;
  /** Neither invited nor disabled. */
  isActive: boolean;
}

/** Whether a person has a password and may use it (`accounts AS a`). */
const isActive = sql`(NOT a.invited AND a.disabled_at IS NULL)`;

export function findAccountByName(db: Queries, name: string): Promise<AccountWithPassword | undefined> {
  return db.maybeOne(sql`
    SELECT a.id, a.name, a.role, a.changed_at::text AS "changedAt",
           a.password_hash AS "passwordHash", ${isActive} AS "isActive"
      FROM accounts AS a WHERE a.name = ${name}`);
}

/** @returns undefined if the account does not exist or is not active. */
export function findActiveAccount(db: Queries, id: string): Promise<Account | undefined> {
  return db.maybeOne(sql`
    SELECT a.id, a.name, a.role, a.changed_at::text AS "changedAt"
      FROM accounts AS a WHERE a.id = ${id} AND ${isActive}`);
}

/** Accounts of one address that a request for a new password reaches. */
const maxOfAddress = 5;

/** Active accounts that have an address, with this name or this address. @returns their ids. */
export async function findToReset(db: Queries, nameOrAddress: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    SELECT a.id FROM accounts AS a
     WHERE (a.name = ${nameOrAddress} OR lower(a.email) = lower(${nameOrAddress}))
       AND a.email IS NOT NULL AND ${isActive}
     ORDER BY a.id LIMIT ${maxOfAddress}`);
  return rows.map(({ id }) => id);
}

/**
 * Whether an active account is as it was. Waits for changes in progress.
 * @param changedAt when it had last changed.
 */
export async function isUnchanged(db: Queries, id: string, changedAt: string): Promise<boolean> {
  const row = await db.maybeOne(sql`
    SELECT FROM accounts AS a
     WHERE a.id = ${id} AND a.changed_at = ${changedAt}::timestamptz AND ${isActive} FOR SHARE`);
  return row !== undefined;
}

/**
 * Whether an account has this name, or one that looks like it. Until the end of the transaction no other
 * account is created. @param more further names that are taken.
 */
export async function isNameTaken(tx: Queries, name: string, more: readonly string[] = []): Promise<boolean> {
  await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('accord accounts'))`);
  const rows = await tx.query<{ name: string }>(sql`SELECT a.name FROM accounts AS a`);
  const appearance = appearanceOf(name);
  return [...rows.map((row) => row.name), ...more].some((taken) => appearanceOf(taken) === appearance);
}

export async function hasAccounts(db: Queries): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`SELECT EXISTS (SELECT FROM accounts) AS found`);
  return found;
}

export function listAccounts(db: Queries): Promise<Account[]> {
  return db.query(sql`SELECT a.id, a.name, a.role FROM accounts AS a ORDER BY a.name`);
}

/**
 * Records a sign-in. @returns false if the account was disabled or its password changed after the given hash
 * was read.
 */
export async function recordSignIn(
  db: Queries,
  { id, passwordHash }: Pick<AccountWithPassword, 'id' | 'passwordHash'>,
): Promise<boolean> {
  const row = await db.maybeOne(sql`
    UPDATE accounts AS a SET last_sign_in_at = accord_now()
     WHERE a.id = ${id} AND a.password_hash = ${passwordHash} AND ${isActive}
    RETURNING a.id`);
  return row !== undefined;
}

/**
 * Sets the password of an account that is not disabled; an invited one becomes active.
 * @param account.former the hash that it must still have; absent: any.
 * @returns undefined if there is no such account.
 */
export function setPassword(
  db: Queries,
  { id, passwordHash, former }: { id: string; passwordHash: string; former?: string },
): Promise<Account | undefined> {
  const isFormer = former === undefined ? sql`` : sql`AND a.password_hash = ${former}`;
  return db.maybeOne<Account>(sql`
    UPDATE accounts AS a SET password_hash = ${passwordHash}, invited = false, changed_at = accord_now()
     WHERE a.id = ${id} AND a.disabled_at IS NULL ${isFormer}
    RETURNING a.id, a.name, a.role`);
}
