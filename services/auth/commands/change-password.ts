import type { Context } from 'koa';
import { recordAction } from '#lib/audit/record-action.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail, invalidMember } from '#lib/errors/fail.ts';
import { digestOfName, isDemoAccount } from '../domain/accounts.ts';
import { checkNewPassword, hashPassword, passwordFaults } from '../domain/password.ts';
import type { GuessGuard } from '../operations/guess-guard.ts';
import type { PasswordCheck } from '../operations/password-check.ts';
import type { AccountDirectory } from '../operations/sign-in.ts';
import { setPassword } from '../queries/accounts.ts';
import { deleteItemsOfAccount } from '../queries/issuer-items.ts';
import { deleteAccountLink } from '../queries/setup-links.ts';
import { deleteAttempts } from '../queries/sign-in-attempts.ts';

/** Changes a person's own password. @throws Failure `not-available`, `invalid`, `too-many-requests`. */
export type ChangePassword = (
  ctx: Context,
  principal: Principal,
  input: { current: string; password: string },
) => Promise<void>;

interface Parts {
  db: Database;
  accounts: AccountDirectory;
  check: PasswordCheck;
  guess: GuessGuard;
}

/** The window in which wrong passwords are counted. */
const windowSeconds = 300;

export function createChangePassword({ db, accounts, check, guess }: Parts): ChangePassword {
  return async (ctx, principal, { current, password }) => {
    // Only a person has a subject.
    const { subject } = principal;
    const known = subject === undefined ? undefined : await accounts.findByName(subject);
    if (!known || isDemoAccount(known.id))
      throw fail('not-available', 'The caller has no password on this instance that could be changed.');
    const fault = checkNewPassword(password, known.name);
    if (fault) throw unchanged('/password', passwordFaults[fault]);
    const verdict = await guess(
      ctx,
      () => check(ctx, known.name, current),
      ({ result }) => result !== 'right',
    );
    if (verdict.result === 'too-many') throw tooMany();
    if (verdict.result === 'wrong') throw wrongPassword();
    const { id, passwordHash: former } = verdict.account;
    const passwordHash = await hashPassword(password);
    const isChanged = await db.withTransaction((tx) =>
      replacePassword(tx, { id, name: known.name, passwordHash, former }),
    );
    if (!isChanged) throw wrongPassword();
  };
}

/**
 * Sets a password, and ends the account's sessions, its link and the count of its failed sign-ins.
 * @param account.former the hash that the account must still have; absent: any.
 * @param by who acts; default: the caller of the current request.
 * @returns false if there is no such account, or it is disabled.
 */
export async function replacePassword(
  tx: Queries,
  account: { id: string; name: string; passwordHash: string; former?: string },
  by?: string,
): Promise<boolean> {
  if (!(await setPassword(tx, account))) return false;
  await deleteItemsOfAccount(tx, account.id);
  await deleteAccountLink(tx, account.id);
  await deleteAttempts(tx, digestOfName(account.name));
  await recordAction(tx, { action: 'password.changed', target: `account/${account.id}` }, by);
  return true;
}

function unchanged(pointer: string, detail: string) {
  return invalidMember('The password was not changed.', pointer, detail);
}

function wrongPassword() {
  return unchanged('/current', 'The current password is wrong.');
}

function tooMany() {
  return fail('too-many-requests', 'Too many wrong passwords; try again in 5 minutes.', {
    headers: { 'Retry-After': String(windowSeconds) },
  });
}
