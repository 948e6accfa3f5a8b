import { recordAction } from '#lib/audit/record-action.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { fail, invalidMember } from '#lib/errors/fail.ts';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import { digestOfName, emailRule, isDemoAccount, readEmail } from '../domain/accounts.ts';
import type { AccountMails } from '../mails/account-mails.ts';
import type { AccountDirectory } from '../operations/sign-in.ts';
import { findEmail, lockAccount, setEmail } from '../queries/managed-accounts.ts';
import { countAttempt } from '../queries/sign-in-attempts.ts';

/** The address for mails to the caller's own account. */
export interface OwnAddress {
  /** @returns undefined for callers without an account that is stored here. */
  find(principal: Principal): Promise<{ email: string | null } | undefined>;
  /**
   * Removes the address, or sends a link to the new one, which confirms it within a day.
   * @throws Failure `not-available`, `invalid`, `too-many-requests`.
   */
  change(principal: Principal, input: { email: string | null; languages: string[] }): Promise<void>;
  /** @returns the account and the address that a link confirms; undefined if it is not valid. */
  open(token: string): AddressTicket | undefined;
  /** Sets the address that a link confirms. @returns false if the account has changed its address since. */
  confirm(ticket: AddressTicket): Promise<boolean>;
}

interface AddressTicket {
  account: string;
  name: string;
  email: string;
  /** The address before: another change since makes the link invalid. */
  before: string | null;
  /** Epoch milliseconds. */
  until: number;
}

interface Parts {
  db: Database;
  accounts: Pick<AccountDirectory, 'findByName'>;
  /** Null without a mail server. */
  mails: Pick<AccountMails, 'queue' | 'wake'> | null;
  linkOf(token: string): string;
  keys: readonly Uint8Array[];
}

const lifeMs = 24 * 60 * 60_000;

/** Mails that an account can send to addresses of its choice within 5 minutes. */
const maxMails = 3;

async function countMail(db: Database, account: string): Promise<void> {
  // Usernames have no control characters, so these are not attempts of a name.
  const name = digestOfName(`\0address ${account}`);
  const nameAndAddress = digestOfName(`\0address of ${account}`);
  if ((await countAttempt(db, { name, nameAndAddress })).ofName <= maxMails) return;
  throw tooMany('Too many mails were sent; try again in 5 minutes.', 300);
}

function tooMany(detail: string, seconds: number) {
  return fail('too-many-requests', detail, { headers: { 'Retry-After': String(seconds) } });
}

export function createOwnAddress({ db, accounts, mails, linkOf, keys }: Parts): OwnAddress {
  const box = createSecretBox(keys, 'accord account addresses');
  const row = 'address';

  async function accountOf({ subject }: Principal): Promise<string | undefined> {
    const known = subject === undefined ? undefined : await accounts.findByName(subject);
    return known && !isDemoAccount(known.id) ? known.id : undefined;
  }

  const put = (
    account: string,
    { before, email }: { before: string | null; email: string | null },
    by?: string,
  ) =>
    db.withTransaction(async (tx) => {
      const locked = await lockAccount(tx, account);
      if (!locked || locked.email !== before) return false;
      await setEmail(tx, account, email);
      await recordAction(tx, { action: 'account.updated', target: `account/${account}` }, by);
      return true;
    });

  return {
    async find(principal) {
      const id = await accountOf(principal);
      return id === undefined ? undefined : findEmail(db, id);
    },
    async change(principal, { email: given, languages }) {
      const id = await accountOf(principal);
      const account = id === undefined ? undefined : await findEmail(db, id);
      if (id === undefined || !account)
        throw notAvailable('The caller has no account that is stored on this instance.');
      const { email: before, name } = account;
      if (given === null) {
        await put(id, { before, email: null });
        return;
      }
      if (!mails)
        throw notAvailable('No mail server is set up: an administrator enters the address instead.');
      const email = readEmail(given);
      if (!email) throw invalidMember('The address was not changed.', '/email', emailRule);
      await countMail(db, id);
      const expiresAt = new Date(Date.now() + lifeMs);
      const ticket: AddressTicket = { account: id, name, email, before, until: expiresAt.getTime() };
      const token = box.seal(row, JSON.stringify(ticket)).toString('base64url');
      const mail = { kind: 'address' as const, to: email, name, link: linkOf(token), languages, expiresAt };
      const refusal = await db.withTransaction((tx) => mails.queue(tx, id, mail));
      // Whether mails of other accounts go to this address is not told.
      if (refusal === 'hour') throw tooMany('Too many mails were sent; try again in an hour.', 3_600);
      mails.wake();
    },
    open(token) {
      try {
        const ticket = JSON.parse(box.open(row, Buffer.from(token, 'base64url'))) as AddressTicket;
        return ticket.until > Date.now() ? ticket : undefined;
      } catch {
        return undefined;
      }
    },
    confirm: ({ account, before, email }) => put(account, { before, email }, `user:${account}`),
  };
}

/** The failure of an address that this instance cannot keep. */
function notAvailable(detail: string) {
  return fail('not-available', detail, { errors: [{ pointer: '/email', code: 'not-available', detail }] });
}
