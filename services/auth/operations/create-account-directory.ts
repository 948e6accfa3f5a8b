import type { Queries } from '#lib/db/database.ts';
import type { Account } from '../domain/account.ts';
import { demoAccounts, demoPassword, isDemoAccount } from '../domain/demo-accounts.ts';
import { hashPassword } from '../domain/password.ts';
import { findAccountById, findAccountByName } from '../queries/accounts.ts';

/** Who can sign in: stored accounts, and in demo mode those of the demonstration. */
export interface AccountDirectory {
  findByName(name: string): Promise<(Account & { passwordHash: string }) | undefined>;
  findById(id: string): Promise<Account | undefined>;
}

/** A stored account comes before a demo account of the same name. */
export async function createAccountDirectory({
  db,
  demo,
}: {
  db: Queries;
  demo: boolean;
}): Promise<AccountDirectory> {
  const demoHash = demo ? await hashPassword(demoPassword) : undefined;
  const known =
    demoHash === undefined ? [] : demoAccounts.map((account) => ({ ...account, passwordHash: demoHash }));
  return {
    async findByName(name) {
      return (await findAccountByName(db, name)) ?? known.find((account) => account.name === name);
    },
    async findById(id) {
      if (isDemoAccount(id)) return known.find((account) => account.id === id);
      return findAccountById(db, id);
    },
  };
}
