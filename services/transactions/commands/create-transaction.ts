import type { ActiveVersions, FormsOperations } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import type { ConsentContext } from '../domain/context.ts';
import { contextDigest } from '../domain/context-digest.ts';
import { layoutReference } from '../domain/layout-reference.ts';
import { newTransaction } from '../domain/new-transaction.ts';
import { recordStatus } from '../domain/record-status.ts';
import { isFinal, stateAt } from '../domain/states.ts';
import type { ReadTransaction } from '../domain/transaction.ts';
import { lockClaim, readClaimed, repointClaim } from '../queries/context-claims.ts';
import { insertClaiming, insertTransaction } from '../queries/create-transaction.ts';
import { readStatusFacts } from '../queries/records.ts';

export interface CreateDependencies {
  db: Database;
  forms: FormsOperations;
  /** BASE_URL, the source of events. */
  source: string;
  /** Tells the relay that there are outbox rows. */
  wake: () => void;
}

/**
 * Creates a transaction, or returns the one that answers an equal context (docs/interface.md, "Duplicate creation"): however many equal requests come
 * at once, they make one.
 * @throws Failure of `resolveLayout`.
 */
export async function createTransaction(
  { db, forms, source, wake }: CreateDependencies,
  context: ConsentContext,
  principal: Principal,
): Promise<ReadTransaction & { created: boolean }> {
  const { layout, active } = await forms.resolveLayout(layoutReference(context));
  const digest = contextDigest(context, layout, active);
  const fresh = newTransaction(context, layout, principal);
  const inserted = await insertClaiming(db, digest, fresh, source);
  if (inserted) {
    wake();
    return { ...inserted, created: true };
  }
  const standing = await readClaimed(db, digest);
  if (standing && (await isReusable(db, standing, active))) return { ...standing, created: false };
  const decided = await db.withTransaction(async (tx) => {
    // The claim's row lock makes equal requests decide one after the other; the second finds what the first has made.
    await lockClaim(tx, digest);
    const claimed = await readClaimed(tx, digest);
    if (claimed && (await isReusable(tx, claimed, active))) return { ...claimed, created: false };
    const made = await insertTransaction(tx, fresh, source);
    await repointClaim(tx, digest, fresh.id);
    return { ...made, created: true };
  });
  if (decided.created) wake();
  return decided;
}

/** Open and not past its deadline, or committed with at least one record and every one of them VALID. */
export async function isReusable(
  db: Queries,
  { transaction, now }: ReadTransaction,
  active: ActiveVersions,
): Promise<boolean> {
  const state = stateAt(transaction, now);
  if (!isFinal(state)) return true;
  if (state !== 'COMMITTED') return false;
  const records = await readStatusFacts(db, transaction.id);
  return records.length > 0 && records.every((record) => recordStatus(record, active, now)[0] === 'VALID');
}
