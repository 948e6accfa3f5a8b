import { parseArgs } from 'node:util';
import { commandLine, recordAction } from '#lib/audit/record-action.ts';
import { type GivenRole, givenRoles } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { accountNameRule, isGivenRole, readAccountName, readNewName, roleNames } from '../domain/accounts.ts';
import { checkNewPassword, hashPassword, passwordFaults } from '../domain/password.ts';
import { removeSecondFactor } from '../operations/second-factor.ts';
import { findAccountByName, insertAccount, isNameTaken, listAccounts } from '../queries/accounts.ts';
import { deleteItemsOfAccount } from '../queries/issuer-items.ts';
import { deleteAccount } from '../queries/managed-accounts.ts';
import { replacePassword } from './change-password.ts';

/** A command of `npm run account`, read from its arguments. @returns the output. */
export interface AccountCommand {
  needsPassword: boolean;
  run(db: Database, password: string): Promise<string>;
}

const usage = `Usage:
  npm run account -- add <name> --role ${givenRoles.join('|')}
  npm run account -- password <name>
  npm run account -- remove-factor <name>
  npm run account -- remove <name>
  npm run account -- list
The command asks for the password, or reads it from standard input.`;

/** @throws StartupError with the usage. */
export function readAccountArguments(args: string[]): AccountCommand {
  const { command, name = '', role, hasMore } = parse(args);
  if (hasMore || (command === 'list') !== (name === '')) throw new StartupError(usage);
  switch (command) {
    case 'add': {
      if (!isGivenRole(role)) throw new StartupError(`--role must be ${roleNames}.\n${usage}`);
      return { needsPassword: true, run: (db, password) => addAccount(db, { name, role, password }) };
    }
    case 'password':
      return { needsPassword: true, run: (db, password) => changePassword(db, { name, password }) };
    case 'remove-factor':
      return { needsPassword: false, run: (db) => removeFactor(db, name) };
    case 'remove':
      return { needsPassword: false, run: (db) => removeAccount(db, name) };
    case 'list':
      return { needsPassword: false, run: describeAccounts };
    default:
      throw new StartupError(usage);
  }
}

function parse(args: string[]) {
  try {
    const options = { role: { type: 'string' } } as const;
    const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
    const [command, name, ...more] = positionals;
    return { command, name, role: values.role, hasMore: more.length > 0 };
  } catch (error) {
    throw new StartupError(`${(error as Error).message}\n${usage}`);
  }
}

/** Creates an account. @returns output for the operator. @throws StartupError. */
export async function addAccount(
  db: Database,
  input: { name: string; role: GivenRole; password: string },
): Promise<string> {
  const name = readNewName(input.name);
  if (!name) throw new StartupError(`The username is not valid. ${accountNameRule}`);
  const passwordHash = await hashNewPassword(input.password, name);
  await db.withTransaction(async (tx) => {
    const isTaken = await isNameTaken(tx, name);
    const account = isTaken ? undefined : await insertAccount(tx, { name, role: input.role, passwordHash });
    if (!account)
      throw new StartupError(
        `An account named ${name} already exists, or one whose name looks like it; nothing was changed.`,
      );
    await recordAction(tx, { action: 'account.created', target: `account/${account.id}` }, commandLine);
  });
  return `Created the account ${name} with the role ${input.role}.`;
}

/** Changes an account's password and ends its sessions and failed sign-ins. @throws StartupError. */
export async function changePassword(
  db: Database,
  input: { name: string; password: string },
): Promise<string> {
  const name = readName(input.name);
  const passwordHash = await hashNewPassword(input.password, name);
  const account = await findAccountByName(db, name);
  if (!account) throw accountNotFound(name);
  const { id } = account;
  if (!(await db.withTransaction((tx) => replacePassword(tx, { id, name, passwordHash }, commandLine))))
    throw new StartupError(`The account ${name} is disabled; nothing was changed.`);
  return `Changed the password of ${name}.`;
}

/** Removes the second factor of an account, for a person who has lost it. @throws StartupError. */
async function removeFactor(db: Database, givenName: string): Promise<string> {
  const name = readName(givenName);
  const account = await findAccountByName(db, name);
  if (!account) throw accountNotFound(name);
  const isRemoved = await db.withTransaction((tx) => removeSecondFactor(tx, account.id, commandLine));
  return isRemoved ? `Removed the second factor of ${name}.` : `The account ${name} has no second factor.`;
}

async function removeAccount(db: Database, givenName: string): Promise<string> {
  const name = readName(givenName);
  const account = await findAccountByName(db, name);
  if (!account) throw accountNotFound(name);
  await db.withTransaction(async (tx) => {
    await deleteItemsOfAccount(tx, account.id);
    await deleteAccount(tx, account.id);
    await recordAction(tx, { action: 'account.deleted', target: `account/${account.id}` }, commandLine);
  });
  return `Removed the account ${name}. Access tokens that it has expire within 5 minutes.`;
}

/** One account per line: name and role. */
async function describeAccounts(db: Database): Promise<string> {
  const accounts = await listAccounts(db);
  if (accounts.length === 0) return 'There are no accounts.';
  return accounts.map(({ name, role }) => `${name}\t${role}`).join('\n');
}

function readName(text: string): string {
  const name = readAccountName(text);
  if (!name) throw new StartupError('A username must have 1 to 255 characters and no control characters.');
  return name;
}

async function hashNewPassword(password: string, name: string): Promise<string> {
  const fault = checkNewPassword(password, name);
  if (fault) throw new StartupError(`${passwordFaults[fault]} Nothing was changed.`);
  return hashPassword(password);
}

function accountNotFound(name: string): StartupError {
  return new StartupError(`There is no account named ${name}.`);
}
