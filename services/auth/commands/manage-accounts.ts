import { randomBytes } from 'node:crypto';
import { recordAction } from '#lib/audit/record-action.ts';
import type { GivenRole } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { uuidPattern } from '#lib/http/lists.ts';
import { accountNameRule, demoAccounts, isGivenRole, readNewName, roleNames } from '../domain/accounts.ts';
import { hashPassword } from '../domain/password.ts';
import { removeSecondFactor } from '../operations/second-factor.ts';
import { drawLinkToken } from '../operations/setup.ts';
import { isNameTaken } from '../queries/accounts.ts';
import { deleteItemsOfAccount } from '../queries/issuer-items.ts';
import {
  deleteAccount as deleteRow,
  insertInvitedAccount,
  lockAccount,
  lockActiveAdmins,
  type ManagedAccount,
  setRights,
} from '../queries/managed-accounts.ts';
import { deleteAccountLink, replaceAccountLink } from '../queries/setup-links.ts';

interface Dependencies {
  db: Database;
  /** Whether demo accounts exist: then their administrator is always there, and their names are taken. */
  demo: boolean;
}

/** An account and the token of its new link, which is not stored. */
export interface Invitation {
  account: ManagedAccount;
  token: string;
  expiresAt: Date;
}

/** Creates an account without a password, and its link. @throws Failure `invalid`, `exists`. */
export async function inviteAccount(
  { db, demo }: Dependencies,
  input: { name: string; role: string },
): Promise<Invitation> {
  const { name, role } = readNewAccount(input);
  const passwordHash = await hashPassword(randomBytes(32).toString('base64url'));
  const demoNames = demo ? demoAccounts.map((account) => account.name) : [];
  return db.withTransaction(async (tx) => {
    const isTaken = await isNameTaken(tx, name, demoNames);
    const account = isTaken ? undefined : await insertInvitedAccount(tx, { name, role, passwordHash });
    if (!account)
      throw fail('exists', 'There is already an account with this name, or one that looks like it.');
    await recordAction(tx, { action: 'account.created', target: `account/${account.id}` });
    return invite(tx, account);
  });
}

/** Replaces the link of an account. @throws Failure `not-found`, `wrong-state` if it is disabled. */
export async function createLink({ db }: Dependencies, id: string): Promise<Invitation> {
  return db.withTransaction(async (tx) => {
    const account = await findLocked(tx, id);
    if (account.state === 'DISABLED')
      throw fail('wrong-state', 'The account is disabled; enable it first.', {
        members: { state: account.state },
      });
    await recordAction(tx, { action: 'link.created', target: `account/${id}` });
    return invite(tx, account);
  });
}

/**
 * Sets an account's role, and whether it is disabled. A change ends the account's sessions.
 * @throws Failure `invalid`, `not-found`, `last-admin`.
 */
export async function updateAccount(
  { db, demo }: Dependencies,
  id: string,
  changes: { role?: string; disabled?: boolean },
): Promise<ManagedAccount> {
  const wanted = readRole(changes.role);
  return db.withTransaction(async (tx) => {
    const admins = await lockActiveAdmins(tx);
    const account = await findLocked(tx, id);
    const role = wanted ?? account.role;
    const wasDisabled = account.state === 'DISABLED';
    const isDisabled = changes.disabled ?? wasDisabled;
    if (role === account.role && isDisabled === wasDisabled) return account;
    if (role !== 'admin' || isDisabled) keepAdmin(admins, id, demo);
    const changed = await setRights(tx, { id, role, isDisabled });
    await deleteItemsOfAccount(tx, id);
    if (isDisabled) await deleteAccountLink(tx, id);
    const target = `account/${id}`;
    if (role !== account.role) await recordAction(tx, { action: 'account.updated', target });
    if (isDisabled !== wasDisabled)
      await recordAction(tx, { action: isDisabled ? 'account.disabled' : 'account.enabled', target });
    return changed;
  });
}

/** Removes an account's second factor, and ends its sessions. @throws Failure `not-found`, `wrong-state`. */
export async function removeFactor({ db }: Dependencies, id: string): Promise<void> {
  await db.withTransaction(async (tx) => {
    await findLocked(tx, id);
    if (!(await removeSecondFactor(tx, id))) throw fail('wrong-state', 'The account has no second factor.');
  });
}

/** Deletes an account and ends its sessions. @throws Failure `not-found`, `last-admin`. */
export async function deleteAccount({ db, demo }: Dependencies, id: string): Promise<void> {
  await db.withTransaction(async (tx) => {
    const admins = await lockActiveAdmins(tx);
    await findLocked(tx, id);
    keepAdmin(admins, id, demo);
    await deleteItemsOfAccount(tx, id);
    await deleteRow(tx, id);
    await recordAction(tx, { action: 'account.deleted', target: `account/${id}` });
  });
}

async function invite(tx: Queries, account: ManagedAccount): Promise<Invitation> {
  const { token, digest } = drawLinkToken();
  return { account, token, expiresAt: await replaceAccountLink(tx, account.id, digest) };
}

async function findLocked(tx: Queries, id: string): Promise<ManagedAccount> {
  const account = uuidPattern.test(id) ? await lockAccount(tx, id) : undefined;
  if (!account) throw fail('not-found', 'Account not found.');
  return account;
}

/** @throws Failure `last-admin` if the account is the only active administrator. */
function keepAdmin(admins: readonly string[], id: string, demo: boolean): void {
  if (demo || admins.length > 1 || !admins.includes(id)) return;
  throw fail(
    'last-admin',
    'This is the last active administrator. Give another active account the role admin first.',
  );
}

const roleFault: Fault = {
  pointer: '/role',
  code: 'invalid',
  detail: `Must be ${roleNames}.`,
};

function readNewAccount(input: { name: string; role: string }): { name: string; role: GivenRole } {
  const name = readNewName(input.name);
  const { role } = input;
  const faults: Fault[] = [];
  if (!name)
    faults.push({
      pointer: '/name',
      code: 'invalid',
      detail: accountNameRule,
    });
  if (!isGivenRole(role)) faults.push(roleFault);
  if (!name || !isGivenRole(role)) throw fail('invalid', 'The account is not valid.', { errors: faults });
  return { name, role };
}

function readRole(role: string | undefined): GivenRole | undefined {
  if (role === undefined || isGivenRole(role)) return role;
  throw fail('invalid', 'The account is not valid.', { errors: [roleFault] });
}
