import type { Context } from 'koa';
import { recordAction } from '#lib/audit/record-action.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { clientNetwork } from '#lib/http/client-address.ts';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import { digestOfName } from '../domain/accounts.ts';
import type { KeyedHash } from '../domain/api-keys.ts';
import { drawRecoveryCodes, readEntered, stepOf } from '../domain/second-factor.ts';
import { deleteItemsOfAccount } from '../queries/issuer-items.ts';
import {
  deleteSecondFactor,
  findSecondFactor,
  insertSecondFactor,
  recordFullSignIn,
  useRecoveryCode,
  useStep,
} from '../queries/second-factors.ts';
import { countAttempt, forgiveAttempt } from '../queries/sign-in-attempts.ts';

/** An account whose password was right, as it was then. */
export interface KnownAccount {
  id: string;
  name: string;
  changedAt: string;
}

/** The second factor of accounts: codes of an app, and recovery codes. */
export interface SecondFactor {
  /** What a sign-in needs after the right password. */
  needOf(accountId: string): Promise<'nothing' | 'code' | 'enrolment'>;
  /** Verifies a code, and notes the sign-in. `too-many`: the code was not considered. */
  verify(ctx: Context, account: KnownAccount, entered: string): Promise<'right' | 'wrong' | 'too-many'>;
  /**
   * Gives the account a second factor if the code is of its secret, and ends the account's other sessions.
   * @returns the recovery codes, which are not stored, and when the account changed; undefined for a wrong
   * code, or an account that has changed since its password.
   */
  enrol(
    account: KnownAccount,
    secret: string,
    entered: string,
  ): Promise<{ recoveryCodes: string[]; changedAt: string } | undefined>;
}

interface Parts {
  db: Database;
  keyedHash: Pick<KeyedHash, 'hash'>;
  /** The secret `key-pepper`: the first seals, all open. */
  keys: readonly Uint8Array[];
  /** SECOND_FACTOR: every account needs one. */
  isRequired: boolean;
}

/** Wrong codes of an account in 5 minutes, from all addresses: only who knows the password comes so far. */
const maxAttempts = 5;

export function createSecondFactor({ db, keyedHash, keys, isRequired }: Parts): SecondFactor {
  const box = createSecretBox(keys, 'accord second factor');
  const digestOf = (account: string, code: string) =>
    keyedHash.hash(`recovery code ${account} ${code.replaceAll('-', '')}`);

  async function isRight({ id }: KnownAccount, entered: string): Promise<boolean> {
    const read = readEntered(entered);
    if (!read) return false;
    if (read.kind === 'recovery')
      return db.withTransaction(async (tx) => {
        const isUsed = await useRecoveryCode(tx, id, digestOf(id, read.code));
        const entry = { action: 'recovery-code.used', target: `account/${id}` } as const;
        if (isUsed) await recordAction(tx, entry, `user:${id}`);
        return isUsed;
      });
    const sealed = await findSecondFactor(db, id);
    const step = sealed && stepOf(box.open(id, sealed), read.code, Date.now());
    return step !== undefined && useStep(db, id, step);
  }

  return {
    async needOf(accountId) {
      if (await findSecondFactor(db, accountId)) return 'code';
      return isRequired ? 'enrolment' : 'nothing';
    },
    async verify(ctx, account, entered) {
      // Usernames have no control characters, so these are not attempts of a name.
      const name = `\0second factor ${account.id}`;
      const nameAndAddress = keyedHash.hash(`${name}\0${clientNetwork(ctx)}`);
      const attempt = { name: digestOfName(name), nameAndAddress };
      const { ofName } = await countAttempt(db, attempt);
      if (ofName > maxAttempts) return 'too-many';
      if (!(await isRight(account, entered))) return 'wrong';
      await forgiveAttempt(db, attempt);
      return (await recordFullSignIn(db, account.id, account.changedAt)) ? 'right' : 'wrong';
    },
    async enrol({ id, changedAt }, secret, entered) {
      const read = readEntered(entered);
      const step = read?.kind === 'app' ? stepOf(secret, read.code, Date.now()) : undefined;
      if (step === undefined) return undefined;
      const recoveryCodes = drawRecoveryCodes();
      const digests = recoveryCodes.map((code) => digestOf(id, code));
      const sealed = box.seal(id, secret);
      return db.withTransaction(async (tx) => {
        const changed = await insertSecondFactor(tx, { account: id, changedAt, sealed, step, digests });
        if (changed === undefined) return undefined;
        await deleteItemsOfAccount(tx, id);
        await recordAction(tx, { action: 'second-factor.added', target: `account/${id}` }, `user:${id}`);
        return { recoveryCodes, changedAt: changed };
      });
    },
  };
}

/**
 * Removes the second factor of a person who has lost it, and ends the sessions of the account.
 * @param by who acts; default: the caller of the current request. @returns false if there is none.
 */
export async function removeSecondFactor(tx: Queries, id: string, by?: string): Promise<boolean> {
  if (!(await deleteSecondFactor(tx, id))) return false;
  await deleteItemsOfAccount(tx, id);
  await recordAction(tx, { action: 'second-factor.removed', target: `account/${id}` }, by);
  return true;
}
