import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { newUuid } from '#lib/ids/new-uuid.ts';
import type { Account } from '../domain/account.ts';
import type { GivenRole } from '../domain/roles.ts';

/** @returns undefined if there is an account of that name already. */
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

/** @returns false if there is no such account. */
export async function updatePassword(db: Queries, name: string, passwordHash: string): Promise<boolean> {
  const row = await db.maybeOne(sql`
    UPDATE accounts AS a SET password_hash = ${passwordHash}, changed_at = accord_now() WHERE a.name = ${name}
    RETURNING a.id`);
  return row !== undefined;
}

/** @returns false if there is no such account. */
export async function deleteAccount(db: Queries, name: string): Promise<boolean> {
  const row = await db.maybeOne(sql`DELETE FROM accounts AS a WHERE a.name = ${name} RETURNING a.id`);
  return row !== undefined;
}
