import { createHash, randomBytes } from 'node:crypto';
import { recordAction } from '#lib/audit/record-action.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { replacePassword } from '../commands/change-password.ts';
import { readNewName } from '../domain/accounts.ts';
import { checkNewPassword, hashPassword, type PasswordFault } from '../domain/password.ts';
import { hasAccounts, insertAccount } from '../queries/accounts.ts';
import { lockAccount } from '../queries/managed-accounts.ts';
import { findOpenLink, type OpenLink, replaceFirstLink, takeLink } from '../queries/setup-links.ts';

/** Single-use links with which people choose their password: the first administrator's, and invitations. */
export interface Setup {
  /** Replaces the link for the first account. @returns its token; undefined if an account exists. */
  openFirstLink(): Promise<string | undefined>;
  /** @returns whom a valid link is for. */
  find(token: string): Promise<OpenLink | undefined>;
  hasAccounts(): Promise<boolean>;
  /** Creates the first account, or sets the password of an invited one, and invalidates the link. */
  complete(
    token: string,
    wanted: { name: string; password: string },
  ): Promise<{ done: true; name: string } | { done: false; fault: 'name' | 'link' | PasswordFault }>;
}

/** Draws a link's token. Only its digest is stored. */
export function drawLinkToken(): { token: string; digest: Buffer } {
  const token = randomBytes(32).toString('base64url');
  return { token, digest: digestOf(token) };
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export function createSetup({ db }: { db: Database }): Setup {
  return {
    async openFirstLink() {
      if (await hasAccounts(db)) return undefined;
      const { token, digest } = drawLinkToken();
      await replaceFirstLink(db, digest);
      return token;
    },
    hasAccounts: () => hasAccounts(db),
    find: (token) => findOpenLink(db, digestOf(token)),
    async complete(token, { name: givenName, password }) {
      const digest = digestOf(token);
      const link = await findOpenLink(db, digest);
      if (!link) return { done: false, fault: 'link' };
      const name = link.name ?? readNewName(givenName);
      if (!name) return { done: false, fault: 'name' };
      const fault = checkNewPassword(password, name);
      if (fault) return { done: false, fault };
      const passwordHash = await hashPassword(password);
      return db.withTransaction(async (tx) => {
        const { account } = link;
        // Every change of an account locks it before its link.
        if (account !== null) await lockAccount(tx, account);
        if (!(await takeLink(tx, digest))) return { done: false, fault: 'link' } as const;
        if (account === null) await createFirst(tx, { name, passwordHash });
        else await replacePassword(tx, { id: account, name, passwordHash }, `user:${account}`);
        return { done: true, name } as const;
      });
    },
  };
}

/** Creates the first administrator, who is recorded as the actor too. */
async function createFirst(tx: Queries, first: { name: string; passwordHash: string }): Promise<void> {
  const created = await insertAccount(tx, { ...first, role: 'admin' });
  if (!created) return;
  const { id } = created;
  await recordAction(tx, { action: 'account.created', target: `account/${id}` }, `user:${id}`);
}
