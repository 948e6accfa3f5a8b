import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'koa';
import type { Database } from '#lib/db/database.ts';
import { clientNetwork } from '#lib/http/address-network.ts';
import { withoutPlace } from '#lib/http/overload-guard.ts';
import { type Account, digestOfName, readAccountName } from '../domain/account.ts';
import type { KeyedHash } from '../domain/keyed-hash.ts';
import type { PasswordVerifier } from '../domain/password.ts';
import { countTry, forgetTries, reserveTry, type TriedName } from '../queries/sign-in-tries.ts';
import type { AccountDirectory } from './create-account-directory.ts';
import { createTurns } from './create-turns.ts';

/** Checks a name and a password. @returns undefined for any fault: a wrong name, a wrong password, too many tries. */
export type SignIn = (ctx: Context, name: string, password: string) => Promise<Account | undefined>;

/**
 * Wrong passwords of a name within 5 minutes. From one address, no further one is accepted for the rest of them; from all addresses together,
 * further ones are looked at once a second. So nobody can lock the owner of a name out, and guessing from many addresses stays slow.
 */
const maxTries = 10;

/** Tries of a name and address that are looked at at once: fewer than `maxTries`, so that right ones never lock each other out. */
const atOnce = 4;

/** Passwords that are hashed at once, in all: each takes 19 MiB and a core. */
const hashedAtOnce = Math.max(4, availableParallelism());

interface Parts {
  db: Database;
  accounts: AccountDirectory;
  passwords: PasswordVerifier;
  keyedHash: Pick<KeyedHash, 'hash'>;
}

/** Whatever is wrong, the same work is done and the same answer is given, so that nobody learns which names exist. */
export function createSignIn({ db, accounts, passwords, keyedHash }: Parts): SignIn {
  const turns = createTurns(atOnce);
  const hashing = createTurns(hashedAtOnce);
  return async (ctx, givenName, password) => {
    const name = readAccountName(givenName) ?? '';
    // A name has no control characters, so no two pairs are the same text.
    const nameAndAddress = keyedHash.hash(`${name}\0${clientNetwork(ctx)}`);
    const tried = { name: digestOfName(name), nameAndAddress };
    const queueUp = (turn: () => Promise<void>) => withoutPlace(ctx, turn);
    const attempt = async () => {
      const mayTry = await countAndPace(db, ctx, tried);
      const account = await accounts.findByName(name);
      const verify = () => passwords.verify(password, account?.passwordHash);
      const right = await hashing.take('', verify, queueUp);
      if (!account || !right || !mayTry) return undefined;
      await forgetTries(db, tried);
      return { id: account.id, name: account.name, role: account.role };
    };
    return turns.take(nameAndAddress.toString('base64'), attempt, queueUp);
  };
}

/** Counts a try, and waits if there were too many of the name. @returns whether its password may count. */
async function countAndPace(db: Database, ctx: Context, tried: TriedName): Promise<boolean> {
  const { ofName, ofNameAndAddress } = await countTry(db, tried);
  if (ofNameAndAddress > maxTries) return false;
  if (ofName <= maxTries) return true;
  const seconds = await reserveTry(db, tried.name);
  if (seconds === undefined) return false;
  if (seconds > 0) await withoutPlace(ctx, () => delay(seconds * 1000));
  return true;
}
