import type { Database } from '#lib/db/database.ts';
import { StartupError } from '#lib/errors/startup-error.ts';
import { digestOfName, readAccountName } from '../domain/account.ts';
import { checkNewPassword, hashPassword, type PasswordFault } from '../domain/password.ts';
import type { GivenRole } from '../domain/roles.ts';
import { deleteAccount, insertAccount, listAccounts, updatePassword } from '../queries/accounts.ts';
import { forgetAllTries } from '../queries/sign-in-tries.ts';

const passwordFaults: Record<PasswordFault, string> = {
  short: 'The password needs at least 12 characters; nothing was changed.',
  long: 'The password may have at most 256 characters; nothing was changed.',
  'same-as-name': 'The password must not be the username; nothing was changed.',
};

/** Makes an account. @returns what to tell the operator. @throws StartupError. */
export async function addAccount(
  db: Database,
  wanted: { name: string; role: GivenRole; password: string },
): Promise<string> {
  const name = readName(wanted.name);
  const passwordHash = await hashNewPassword(wanted.password, name);
  const account = await insertAccount(db, { name, role: wanted.role, passwordHash });
  if (!account) throw new StartupError(`There is an account named ${name} already; nothing was changed.`);
  return `${name} can sign in now, as ${wanted.role}.`;
}

/** Gives an account another password, and lets it in again if it was locked. */
export async function changePassword(
  db: Database,
  wanted: { name: string; password: string },
): Promise<string> {
  const name = readName(wanted.name);
  const passwordHash = await hashNewPassword(wanted.password, name);
  if (!(await updatePassword(db, name, passwordHash))) throw noAccount(name);
  await forgetAllTries(db, digestOfName(name));
  return `${name} has a new password.`;
}

/** @returns what to tell the operator. @throws StartupError. */
export async function removeAccount(db: Database, givenName: string): Promise<string> {
  const name = readName(givenName);
  if (!(await deleteAccount(db, name))) throw noAccount(name);
  return `${name} cannot sign in any more. Access tokens that were given before last 5 minutes at most.`;
}

/** One account a line: name and role. */
export async function describeAccounts(db: Database): Promise<string> {
  const accounts = await listAccounts(db);
  if (accounts.length === 0) return 'There are no accounts.';
  return accounts.map(({ name, role }) => `${name}\t${role}`).join('\n');
}

function readName(text: string): string {
  const name = readAccountName(text);
  if (!name) throw new StartupError('A username has 1 to 255 characters, and no control characters.');
  return name;
}

async function hashNewPassword(password: string, name: string): Promise<string> {
  const fault = checkNewPassword(password, name);
  if (fault) throw new StartupError(passwordFaults[fault]);
  return hashPassword(password);
}

function noAccount(name: string): StartupError {
  return new StartupError(`There is no account named ${name}.`);
}
