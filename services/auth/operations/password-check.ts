import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'koa';
import { createKeyedLimiter } from '#lib/async/keyed-limiter.ts';
import type { Database } from '#lib/db/database.ts';
import { whileIdle } from '#lib/http/admission.ts';
import { clientNetwork } from '#lib/http/client-address.ts';
import { chargeFor } from '#lib/http/pacer.ts';
import { digestOfName } from '../domain/accounts.ts';
import type { KeyedHash } from '../domain/api-keys.ts';
import type { PasswordVerifier } from '../domain/password.ts';
import type { AccountWithPassword } from '../queries/accounts.ts';
import {
  type AttemptKeys,
  countAttempt,
  forgiveAttempt,
  reserveAttempt,
} from '../queries/sign-in-attempts.ts';
import { createTurns } from './guess-guard.ts';
import type { AccountDirectory } from './sign-in.ts';

/** `too-many`: the password was not considered, because there were too many attempts. */
export type PasswordVerdict =
  | { result: 'right'; account: AccountWithPassword }
  | { result: 'wrong' }
  | { result: 'too-many' };

/** Verifies the password of a username, and limits attempts to guess it. */
export type PasswordCheck = (ctx: Context, name: string, password: string) => Promise<PasswordVerdict>;

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

/** Password hashes at a time: each takes 19 MiB and a core, and one core is left to everything else. */
const maxConcurrentHashes = Math.max(1, availableParallelism() - 1);

interface Parts {
  db: Database;
  accounts: Pick<AccountDirectory, 'findByName'>;
  passwords: PasswordVerifier;
  keyedHash: Pick<KeyedHash, 'hash'>;
}

/**
 * Does the same work for every failure, so that neither result nor timing reveals usernames. Those of demo
 * accounts are public.
 */
export function createPasswordCheck({ db, accounts, passwords, keyedHash }: Parts): PasswordCheck {
  const turns = createTurns(maxConcurrent);
  // Networks take turns, so that the attempts of one delay the sign-ins of others by one hash each.
  const hashing = createKeyedLimiter({ perKey: 1, total: maxConcurrentHashes });
  return async (ctx, name, password) => {
    // Names have no control characters, so the separator is unambiguous.
    const nameAndAddress = keyedHash.hash(`${name}\0${clientNetwork(ctx)}`);
    const keys = { name: digestOfName(name), nameAndAddress };
    const wrapWait = (wait: () => Promise<void>) => whileIdle(ctx, wait);
    const attempt = async (): Promise<PasswordVerdict> => {
      const isAllowed = await countAndPace(db, ctx, keys);
      const account = await accounts.findByName(name);
      const enter = () => hashing.enter(clientNetwork(ctx), AbortSignal.any([]));
      const leave = await whileIdle(ctx, enter);
      const started = performance.now();
      const right = await passwords.verify(password, account?.passwordHash).finally(leave);
      chargeFor(ctx, performance.now() - started);
      if (!isAllowed) return { result: 'too-many' };
      if (!account?.isActive || !right) return { result: 'wrong' };
      await forgiveAttempt(db, keys);
      return { result: 'right', account };
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
  if (seconds > 0) await whileIdle(ctx, () => delay(seconds * 1000));
  return true;
}
