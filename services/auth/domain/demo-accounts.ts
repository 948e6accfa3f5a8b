import type { Account } from './account.ts';

/** The password that everybody knows. */
export const demoPassword = 'demo';

const prefix = 'demo-';

/**
 * The accounts of demo mode (docs/operations.md, "Settings"). They are in no database: a folder that was first used for a demonstration has none of
 * them once DEMO is off.
 */
export const demoAccounts: readonly Account[] = [
  { id: `${prefix}admin`, name: 'admin', role: 'admin' },
  { id: `${prefix}operator`, name: 'operator', role: 'operator' },
  { id: `${prefix}user`, name: 'user', role: 'user' },
];

/** True for the id of a demo account. Ids of others are UUIDs. */
export function isDemoAccount(id: string): boolean {
  return id.startsWith(prefix);
}
