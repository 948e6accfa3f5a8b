import { recordAction, thisInstance } from '#lib/audit/record-action.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { readAccountName } from '../domain/accounts.ts';
import type { AccountMails } from '../mails/account-mails.ts';
import { findToReset } from '../queries/accounts.ts';
import { lockAccount } from '../queries/managed-accounts.ts';
import { insertResetLink } from '../queries/setup-links.ts';
import { drawLinkToken } from './setup.ts';

/**
 * Sends a link with which its person chooses another password to every active account with this name or
 * address that has an address. Returns at once and never rejects: neither result nor time tells whether there
 * is such an account.
 */
export type ForgetPassword = (text: string, languages: string[]) => void;

interface Parts {
  db: Database;
  mails: Pick<AccountMails, 'queue' | 'wake'>;
  linkOf(token: string): string;
  log: Logger;
}

export function createForgottenPassword({ db, mails, linkOf, log }: Parts): ForgetPassword {
  async function send(id: string, languages: string[]): Promise<void> {
    await db.withTransaction(async (tx) => {
      // Every change of an account locks it before its links.
      const account = await lockAccount(tx, id);
      if (account?.state !== 'ACTIVE' || account.email === null) return;
      const { token, digest } = drawLinkToken();
      const expiresAt = await insertResetLink(tx, id, digest);
      if (!expiresAt) return;
      const { name, email: to } = account;
      const link = linkOf(token);
      const mail = { kind: 'reset', to, name, link, languages, expiresAt, isByStranger: true } as const;
      if ((await mails.queue(tx, id, mail)) !== null) return;
      await recordAction(tx, { action: 'password.reset-requested', target: `account/${id}` }, thisInstance);
    });
    mails.wake();
  }
  return (text, languages) => {
    const entered = readAccountName(text);
    if (!entered) return;
    void (async () => {
      for (const id of await findToReset(db, entered)) await send(id, languages);
    })().catch((error: unknown) => log.warn('failed to send a link for a forgotten password', { error }));
  };
}
