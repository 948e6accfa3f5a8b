import type { Context } from 'koa';
import type { Database, Queries } from '#lib/db/database.ts';
import { uuidPattern } from '#lib/http/lists.ts';
import {
  type Account,
  demoAccounts,
  demoPassword,
  isDemoAccount,
  readAccountName,
} from '../domain/accounts.ts';
import { hashPublicPassword } from '../domain/password.ts';
import {
  type AccountWithPassword,
  findAccountByName,
  findActiveAccount,
  isUnchanged,
  recordSignIn,
} from '../queries/accounts.ts';
import { findClient } from '../queries/clients.ts';
import type { IsUnchanged } from '../tokens/verifiers.ts';
import type { PasswordCheck } from './password-check.ts';
import type { SecondFactor } from './second-factor.ts';

/** Stored accounts and, in demo mode, demo accounts. */
export interface AccountDirectory {
  findByName(name: string): Promise<AccountWithPassword | undefined>;
  /** @returns undefined for an account that does not exist or is not active. */
  findById(id: string): Promise<Account | undefined>;
  /**
   * Whether an account is as it was when its password was verified: active, with the same password and role.
   * @param changedAt of the account at that time.
   */
  isUnchanged(id: string, changedAt: string | undefined): Promise<boolean>;
}

/** Stored accounts take precedence over demo accounts of the same name. */
export async function createAccountDirectory({
  db,
  demo,
}: {
  db: Queries;
  demo: boolean;
}): Promise<AccountDirectory> {
  const passwordHash = demo ? await hashPublicPassword(demoPassword) : '';
  const known = demo ? demoAccounts.map((account) => ({ ...account, passwordHash, isActive: true })) : [];
  return {
    async findByName(name) {
      return (await findAccountByName(db, name)) ?? known.find((account) => account.name === name);
    },
    async findById(id) {
      if (isDemoAccount(id)) return known.find((account) => account.id === id);
      return findActiveAccount(db, id);
    },
    isUnchanged: async (id, changedAt) => changedAt === undefined || isUnchanged(db, id, changedAt),
  };
}

/**
 * Whether the account of a token is active and has neither another role nor another password since, and the
 * client of a token for itself is still registered.
 */
export function createIsUnchanged(db: Queries): IsUnchanged {
  return async ({ sub = '', client_id, roles, changed_at }) => {
    if (isDemoAccount(sub)) return true;
    if (sub === client_id) return [(await findClient(db, sub))?.role].flat().join() === String(roles);
    return typeof changed_at === 'string' && uuidPattern.test(sub) && isUnchanged(db, sub, changed_at);
  };
}

/** An account whose password was right, and what its sign-in needs besides. */
export interface PasswordSignIn {
  account: Account;
  need: 'nothing' | 'code' | 'enrolment';
}

/**
 * Verifies a username and password, and notes the sign-in if it needs nothing else.
 * @returns undefined for a wrong name or password and for too many attempts.
 */
export type SignIn = (ctx: Context, name: string, password: string) => Promise<PasswordSignIn | undefined>;

export function createSignIn({
  db,
  check,
  secondFactor,
}: {
  db: Database;
  check: PasswordCheck;
  secondFactor: Pick<SecondFactor, 'needOf'>;
}): SignIn {
  return async (ctx, givenName, password) => {
    const verdict = await check(ctx, readAccountName(givenName) ?? '', password);
    if (verdict.result !== 'right') return undefined;
    const { id, name, role, changedAt } = verdict.account;
    const account = { id, name, role, changedAt };
    if (isDemoAccount(id)) return { account, need: 'nothing' };
    const need = await secondFactor.needOf(id);
    if (need === 'nothing' && !(await recordSignIn(db, verdict.account))) return undefined;
    return { account, need };
  };
}
