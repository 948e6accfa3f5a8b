import { randomBytes } from 'node:crypto';
import { recordAction } from '#lib/audit/record-action.ts';
import type { GivenRole } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { uuidPattern } from '#lib/http/lists.ts';
import {
  accountNameRule,
  demoAccounts,
  emailRule,
  isGivenRole,
  readEmail,
  readNewName,
  roleNames,
} from '../domain/accounts.ts';
import { hashPassword } from '../domain/password.ts';
import type { AccountMails } from '../mails/account-mails.ts';
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
  setEmail,
  setRights,
} from '../queries/managed-accounts.ts';
import { deleteAccountLink, replaceAccountLink } from '../queries/setup-links.ts';

interface Dependencies {
  db: Database;
  /** Whether demo accounts exist: then their administrator is always there, and their names are taken. */
  demo: boolean;
  /** Null without a mail server, or at an outside issuer. */
  mails: Pick<AccountMails, 'queue' | 'wake'> | null;
  /** The page on which a person chooses a password. */
  linkOf(token: string): string;
}

/** An account and the token of its new link, which is not stored. */
export interface Invitation {
  account: ManagedAccount;
  token: string;
  expiresAt: Date;
  /** Whether its link is sent by mail. */
  isMailed: boolean;
}

/** Creates an account without a password, and its link. @throws Failure `invalid`, `exists`. */
export async function inviteAccount(
  dependencies: Dependencies,
  input: { name: string; role: string; email?: string; language?: string },
): Promise<Invitation> {
  const { db, demo } = dependencies;
  const { name, role, email } = readNewAccount(input);
  const passwordHash = await hashPassword(randomBytes(32).toString('base64url'));
  const demoNames = demo ? demoAccounts.map((account) => account.name) : [];
  const invitation = await db.withTransaction(async (tx) => {
    const isTaken = await isNameTaken(tx, name, demoNames);
    const account = isTaken ? undefined : await insertInvitedAccount(tx, { name, role, email, passwordHash });
    if (!account)
      throw fail('exists', 'There is already an account with this name, or one that looks like it.');
    await recordAction(tx, { action: 'account.created', target: `account/${account.id}` });
    return invite(dependencies, tx, account, input.language);
  });
  dependencies.mails?.wake();
  return invitation;
}

/** Replaces the link of an account. @throws Failure `not-found`, `wrong-state` if it is disabled. */
export async function createLink(
  dependencies: Dependencies,
  id: string,
  language?: string,
): Promise<Invitation> {
  const invitation = await dependencies.db.withTransaction(async (tx) => {
    const account = await findLocked(tx, id);
    if (account.state === 'DISABLED')
      throw fail('wrong-state', 'The account is disabled; enable it first.', {
        members: { state: account.state },
      });
    await recordAction(tx, { action: 'link.created', target: `account/${id}` });
    return invite(dependencies, tx, account, language);
  });
  dependencies.mails?.wake();
  return invitation;
}

/**
 * Sets an account's role, address, and whether it is disabled. Except for the address a change ends the
 * account's sessions.
 * @throws Failure `invalid`, `not-found`, `last-admin`.
 */
export async function updateAccount(
  { db, demo }: Pick<Dependencies, 'db' | 'demo'>,
  id: string,
  changes: { role?: string; disabled?: boolean; email?: string | null },
): Promise<ManagedAccount> {
  const wanted = readRole(changes.role);
  const email = readAddress(changes.email);
  return db.withTransaction(async (tx) => {
    const admins = await lockActiveAdmins(tx);
    const account = await findLocked(tx, id);
    const role = wanted ?? account.role;
    const wasDisabled = account.state === 'DISABLED';
    const isDisabled = changes.disabled ?? wasDisabled;
    const target = `account/${id}`;
    const isMoved = email !== undefined && email !== account.email;
    if (isMoved) await setEmail(tx, id, email);
    if (isMoved || role !== account.role) await recordAction(tx, { action: 'account.updated', target });
    if (role === account.role && isDisabled === wasDisabled) return isMoved ? findLocked(tx, id) : account;
    if (role !== 'admin' || isDisabled) keepAdmin(admins, id, demo);
    const changed = await setRights(tx, { id, role, isDisabled });
    await deleteItemsOfAccount(tx, id);
    if (isDisabled) await deleteAccountLink(tx, id);
    if (isDisabled !== wasDisabled)
      await recordAction(tx, { action: isDisabled ? 'account.disabled' : 'account.enabled', target });
    return changed;
  });
}

/** Removes an account's second factor, and ends its sessions. @throws Failure `not-found`, `wrong-state`. */
export async function removeFactor({ db }: Pick<Dependencies, 'db'>, id: string): Promise<void> {
  await db.withTransaction(async (tx) => {
    await findLocked(tx, id);
    if (!(await removeSecondFactor(tx, id))) throw fail('wrong-state', 'The account has no second factor.');
  });
}

/** Deletes an account and ends its sessions. @throws Failure `not-found`, `last-admin`. */
export async function deleteAccount(
  { db, demo }: Pick<Dependencies, 'db' | 'demo'>,
  id: string,
): Promise<void> {
  await db.withTransaction(async (tx) => {
    const admins = await lockActiveAdmins(tx);
    await findLocked(tx, id);
    keepAdmin(admins, id, demo);
    await deleteItemsOfAccount(tx, id);
    await deleteRow(tx, id);
    await recordAction(tx, { action: 'account.deleted', target: `account/${id}` });
  });
}

/** Makes a link, and sends it if there are an address and a mail server, and no limit forbids it. */
async function invite(
  { mails, linkOf }: Dependencies,
  tx: Queries,
  account: ManagedAccount,
  language: string | undefined,
): Promise<Invitation> {
  const { id, name, email: to, state } = account;
  const { token, digest } = drawLinkToken();
  const expiresAt = await replaceAccountLink(tx, id, digest);
  if (!mails || to === null) return { account, token, expiresAt, isMailed: false };
  const kind = state === 'INVITED' ? 'invitation' : 'reset';
  const languages = language === undefined ? [] : [language];
  const mail = { kind, to, name, link: linkOf(token), languages, expiresAt } as const;
  return { account, token, expiresAt, isMailed: (await mails.queue(tx, id, mail)) === null };
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

const emailFault: Fault = { pointer: '/email', code: 'invalid', detail: emailRule };

function readNewAccount(input: { name: string; role: string; email?: string }): {
  name: string;
  role: GivenRole;
  email: string | null;
} {
  const name = readNewName(input.name);
  const email = input.email ? readEmail(input.email) : null;
  const { role } = input;
  const faults: Fault[] = [];
  if (!name)
    faults.push({
      pointer: '/name',
      code: 'invalid',
      detail: accountNameRule,
    });
  if (!isGivenRole(role)) faults.push(roleFault);
  if (email === undefined) faults.push(emailFault);
  if (!name || !isGivenRole(role) || email === undefined)
    throw fail('invalid', 'The account is not valid.', { errors: faults });
  return { name, role, email };
}

/** @returns undefined if it is to stay as it is. */
function readAddress(given: string | null | undefined): string | null | undefined {
  if (!given) return given === '' ? null : given;
  const email = readEmail(given);
  if (!email) throw fail('invalid', 'The account is not valid.', { errors: [emailFault] });
  return email;
}

function readRole(role: string | undefined): GivenRole | undefined {
  if (role === undefined || isGivenRole(role)) return role;
  throw fail('invalid', 'The account is not valid.', { errors: [roleFault] });
}
