import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { countRecent } from '../transaction/store.ts';

/** Transactions of one person in 24 hours, if the person or a link of the person creates them. */
const maxPerDay = 500;

/**
 * Bounds what a person can cause to be stored until it is erased (ABANDONED_RETENTION). Staff and programs
 * are not affected.
 * @throws Failure `too-many-requests`.
 */
export async function requireUnderDailyLimit(
  db: Queries,
  principal: Principal,
  subject: string,
): Promise<void> {
  if (isPrivileged(principal)) return;
  if ((await countRecent(db, subject, maxPerDay)) < maxPerDay) return;
  throw fail('too-many-requests', `A person may create at most ${maxPerDay} transactions in 24 hours.`, {
    headers: { 'Retry-After': '3600' },
  });
}
