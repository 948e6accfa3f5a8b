import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'koa';
import type { Database, Queries } from '#lib/db/database.ts';
import { withoutSlot } from '#lib/http/admission.ts';
import { clientNetwork } from '#lib/http/client-address.ts';
import {
  type Account,
  demoAccounts,
  demoPassword,
  digestOfName,
  isDemoAccount,
  readAccountName,
} from '../domain/accounts.ts';
import type { KeyedHash } from '../domain/api-keys.ts';
import { hashPassword, type PasswordVerifier } from '../domain/password.ts';
import { findAccountById, findAccountByName } from '../queries/accounts.ts';
import {
  type AttemptKeys,
  countAttempt,
  forgiveAttempt,
  reserveAttempt,
} from '../queries/sign-in-attempts.ts';
import { createTurns } from './guess-guard.ts';

/** Stored accounts and, in demo mode, demo accounts. */
export interface AccountDirectory {
  findByName(name: string): Promise<(Account & { passwordHash: string }) | undefined>;
  findById(id: string): Promise<Account | undefined>;
}

/** Stored accounts take precedence over demo accounts of the same name. */
export async function createAccountDirectory({
  db,
  demo,
}: {
  db: Queries;
  demo: boolean;
}): Promise<AccountDirectory> {
  const demoHash = demo ? await hashPassword(demoPassword) : undefined;
  const known =
    demoHash === undefined ? [] : demoAccounts.map((account) => ({ ...account, passwordHash: demoHash }));
  return {
    async findByName(name) {
      return (await findAccountByName(db, name)) ?? known.find((account) => account.name === name);
    },
    async findById(id) {
      if (isDemoAccount(id)) return known.find((account) => account.id === id);
      return findAccountById(db, id);
    },
  };
}

/**
 * Verifies a username and password. @returns undefined for a wrong name or password and for too many
 * attempts.
 */
export type SignIn = (ctx: Context, name: string, password: string) => Promise<Account | undefined>;

/**
 * Failed attempts of a name in 5 minutes. Beyond, attempts from the same address fail, and attempts from all
 * addresses are paced to one per second: guessing stays slow, and an attacker cannot lock out the owner, who
 * has another address.
 */
const maxAttempts = 10;

/**
 * Concurrent attempts of a name and address; below `maxAttempts`, so that concurrent sign-ins do not lock
 * each other out.
 */
const maxConcurrent = 4;

/** Concurrent password hashes; each takes 19 MiB and a core. */
const maxConcurrentHashes = Math.max(4, availableParallelism());

interface Parts {
  db: Database;
  accounts: AccountDirectory;
  passwords: PasswordVerifier;
  keyedHash: Pick<KeyedHash, 'hash'>;
}

/** Does the same work for every failure, so that neither result nor timing reveals usernames. */
export function createSignIn({ db, accounts, passwords, keyedHash }: Parts): SignIn {
  const turns = createTurns(maxConcurrent);
  const hashing = createTurns(maxConcurrentHashes);
  return async (ctx, givenName, password) => {
    const name = readAccountName(givenName) ?? '';
    // Names have no control characters, so the separator is unambiguous.
    const nameAndAddress = keyedHash.hash(`${name}\0${clientNetwork(ctx)}`);
    const keys = { name: digestOfName(name), nameAndAddress };
    const wrapWait = (wait: () => Promise<void>) => withoutSlot(ctx, wait);
    const attempt = async () => {
      const isAllowed = await countAndPace(db, ctx, keys);
      const account = await accounts.findByName(name);
      const verify = () => passwords.verify(password, account?.passwordHash);
      const right = await hashing.take('', verify, wrapWait);
      if (!account || !right || !isAllowed) return undefined;
      await forgiveAttempt(db, keys);
      return { id: account.id, name: account.name, role: account.role };
    };
    return turns.take(nameAndAddress.toString('base64'), attempt, wrapWait);
  };
}

/** Counts an attempt, and delays it after too many for the name. @returns whether it may succeed. */
async function countAndPace(db: Database, ctx: Context, keys: AttemptKeys): Promise<boolean> {
  const { ofName, ofNameAndAddress } = await countAttempt(db, keys);
  if (ofNameAndAddress > maxAttempts) return false;
  if (ofName <= maxAttempts) return true;
  const seconds = await reserveAttempt(db, keys.name);
  if (seconds === undefined) return false;
  if (seconds > 0) await withoutSlot(ctx, () => delay(seconds * 1000));
  return true;
}
