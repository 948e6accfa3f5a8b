import type { Database } from '#lib/db/database.ts';
import { type Account, digestOfName, readAccountName } from '../domain/account.ts';
import type { PasswordVerifier } from '../domain/password.ts';
import { countTry, forgetTries } from '../queries/sign-in-tries.ts';
import type { AccountDirectory } from './create-account-directory.ts';
import { createTurns } from './create-turns.ts';

/** Checks a name and a password. @returns undefined for any fault: a wrong name, a wrong password, too many tries. */
export type SignIn = (name: string, password: string) => Promise<Account | undefined>;

/** Wrong passwords in a row, within 5 minutes, after which a name is locked for the rest of them. */
const maxTries = 10;

/** Tries of one name that are looked at at once: fewer than `maxTries`, so that right ones never lock each other out. */
const atOnce = 4;

/** Whatever is wrong, the same work is done and the same answer is given, so that nobody learns which names exist. */
export function createSignIn({
  db,
  accounts,
  passwords,
}: {
  db: Database;
  accounts: AccountDirectory;
  passwords: PasswordVerifier;
}): SignIn {
  const turns = createTurns(atOnce);
  return async (givenName, password) => {
    const name = readAccountName(givenName) ?? '';
    const digest = digestOfName(name);
    return turns.take(digest.toString('base64'), async () => {
      const tries = await countTry(db, digest);
      const account = await accounts.findByName(name);
      const right = await passwords.verify(password, account?.passwordHash);
      if (!account || !right || tries > maxTries) return undefined;
      await forgetTries(db, digest);
      return { id: account.id, name: account.name, role: account.role };
    });
  };
}
