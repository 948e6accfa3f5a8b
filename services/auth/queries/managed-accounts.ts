import type { GivenRole } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { PageRequest } from '#lib/http/lists.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { Account, AccountState } from '../domain/accounts.ts';

/** An account as administrators see it. */
export interface ManagedAccount extends Account {
  state: AccountState;
  createdAt: Date;
  lastSignInAt: Date | null;
  hasSecondFactor: boolean;
  /** Where its mails go; null: nowhere. */
  email: string | null;
}

const columns = sql`
  a.id, a.name, a.role, a.email,
  CASE WHEN a.disabled_at IS NOT NULL THEN 'DISABLED' WHEN a.invited THEN 'INVITED' ELSE 'ACTIVE' END AS state,
  a.created_at AS "createdAt", a.last_sign_in_at AS "lastSignInAt",
  EXISTS (SELECT FROM second_factors AS f WHERE f.account = a.id) AS "hasSecondFactor"`;

/** A page of accounts, newest first. @param after end of the previous page. */
export function listManagedAccounts(
  db: Queries,
  { after, limit }: PageRequest,
): Promise<(ManagedAccount & { position: string })[]> {
  const from = after
    ? sql`WHERE (a.created_at, a.id) < (${after.createdAt}::timestamptz, ${after.id}::uuid)`
    : sql``;
  return db.query(sql`
    SELECT ${columns}, a.created_at::text AS position FROM accounts AS a ${from}
     ORDER BY a.created_at DESC, a.id DESC LIMIT ${limit}`);
}

/**
 * Inserts an invited account. @param account.passwordHash of a password that nobody knows.
 * @returns undefined if an account with this name exists.
 */
export function insertInvitedAccount(
  db: Queries,
  {
    name,
    role,
    email,
    passwordHash,
  }: Pick<ManagedAccount, 'name' | 'role' | 'email'> & { passwordHash: string },
): Promise<ManagedAccount | undefined> {
  return db.maybeOne(sql`
    INSERT INTO accounts AS a (id, name, role, email, password_hash, invited, created_at, changed_at)
    VALUES (${newUuid()}, ${name}, ${role}, ${email}, ${passwordHash}, true, accord_now(), accord_now())
    ON CONFLICT (name) DO NOTHING
    RETURNING ${columns}`);
}

/**
 * Locks the active administrators, always in the same order and before any other account, so that concurrent
 * changes cannot remove the last two. @returns their ids.
 */
export async function lockActiveAdmins(tx: Queries): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    SELECT a.id FROM accounts AS a
     WHERE a.role = 'admin' AND NOT a.invited AND a.disabled_at IS NULL
     ORDER BY a.id FOR UPDATE`);
  return rows.map(({ id }) => id);
}

export function lockAccount(tx: Queries, id: string): Promise<ManagedAccount | undefined> {
  return tx.maybeOne(sql`SELECT ${columns} FROM accounts AS a WHERE a.id = ${id} FOR UPDATE`);
}

/** Sets the role of a locked account, and whether it is disabled. */
export function setRights(
  tx: Queries,
  { id, role, isDisabled }: { id: string; role: GivenRole; isDisabled: boolean },
): Promise<ManagedAccount> {
  return tx.one(sql`
    UPDATE accounts AS a
       SET role = ${role}, changed_at = accord_now(),
           disabled_at = CASE WHEN ${isDisabled}::boolean THEN coalesce(a.disabled_at, accord_now()) END
     WHERE a.id = ${id} RETURNING ${columns}`);
}

/** Name and address of an account; undefined if there is none. */
export function findEmail(
  db: Queries,
  id: string,
): Promise<Pick<ManagedAccount, 'name' | 'email'> | undefined> {
  return db.maybeOne(sql`SELECT a.name, a.email FROM accounts AS a WHERE a.id = ${id}`);
}

/** Sets the address of a locked account; links that were sent to another one stop working. */
export async function setEmail(tx: Queries, id: string, email: string | null): Promise<void> {
  await tx.query(sql`UPDATE accounts SET email = ${email} WHERE id = ${id}`);
  await tx.query(sql`DELETE FROM setup_links WHERE account = ${id} AND is_reset`);
}

/** Deletes an account and its link. */
export async function deleteAccount(tx: Queries, id: string): Promise<void> {
  await tx.query(sql`DELETE FROM accounts AS a WHERE a.id = ${id}`);
}
