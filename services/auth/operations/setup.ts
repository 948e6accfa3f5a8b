import { createHash, randomBytes } from 'node:crypto';
import type { Database } from '#lib/db/database.ts';
import { readAccountName } from '../domain/accounts.ts';
import { checkNewPassword, hashPassword, type PasswordFault } from '../domain/password.ts';
import {
  hasAccounts,
  insertAccount,
  isSetupLinkOpen,
  replaceSetupLink,
  takeSetupLink,
} from '../queries/accounts.ts';

/** Creates the first account through a single-use link that is valid for one hour. */
export interface Setup {
  /** Replaces the link. @returns its token; undefined if an account exists. */
  openLink(): Promise<string | undefined>;
  isOpen(token: string): Promise<boolean>;
  createFirstAccount(
    token: string,
    wanted: { name: string; password: string },
  ): Promise<{ done: true; name: string } | { done: false; fault: 'name' | 'link' | PasswordFault }>;
}

/** Only digests of tokens are stored. */
export function createSetup({ db }: { db: Database }): Setup {
  const digest = (token: string) => createHash('sha256').update(token).digest();
  return {
    async openLink() {
      if (await hasAccounts(db)) return undefined;
      const token = randomBytes(32).toString('base64url');
      await replaceSetupLink(db, digest(token));
      return token;
    },
    isOpen: (token) => isSetupLinkOpen(db, digest(token)),
    async createFirstAccount(token, { name: givenName, password }) {
      const name = readAccountName(givenName);
      if (!name) return { done: false, fault: 'name' };
      const fault = checkNewPassword(password, name);
      if (fault) return { done: false, fault };
      const passwordHash = await hashPassword(password);
      return db.withTransaction(async (tx) => {
        if (!(await takeSetupLink(tx, digest(token)))) return { done: false, fault: 'link' } as const;
        await insertAccount(tx, { name, role: 'admin', passwordHash });
        return { done: true, name } as const;
      });
    },
  };
}
