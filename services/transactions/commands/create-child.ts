import type { Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { actorName, requireAccess, requireUpdatable } from '../domain/access.ts';
import type { NewTransaction, ReadTransaction, Transaction } from '../domain/transaction.ts';
import { closeExpiredChild, lockTransaction } from '../queries/change-state.ts';
import { insertTransaction, readOpenChild, readTransaction } from '../queries/transactions.ts';

/**
 * Creates a transaction based on a final one, or returns its open child (docs/interface.md, "Children").
 * @param languages of the caller; the child is shown in them instead of in the parent's.
 * @throws Failure `not-found`, `wrong-state`.
 */
export async function createChild(
  { db, instance, wake }: { db: Database; instance: { baseUrl: string }; wake: () => void },
  { id, principal, languages }: { id: string; principal: Principal; languages: string[] },
): Promise<ReadTransaction & { created: boolean }> {
  const source = instance.baseUrl;
  const parent = requireAccess(principal, await readTransaction(db, id), 'result');
  requireUpdatable(parent);
  const child = await db.withTransaction(async (tx) => {
    // Of several requests at once one creates the child and the others find it.
    await lockTransaction(tx, id);
    await closeExpiredChild(tx, id, source);
    const open = await readOpenChild(tx, id);
    if (open) return { ...open, created: false };
    const created = await insertTransaction(tx, childOf(parent.transaction, principal, languages), source);
    return { ...created, created: true };
  });
  if (child.created) wake();
  return child;
}

function childOf(parent: Transaction, principal: Principal, languages: string[]): NewTransaction {
  const { author: _author, language, origin, ...rest } = parent.context;
  // The form of the child is shown here, even if a peer showed that of the parent.
  const context = { ...rest, origin: origin === 'PEER' ? ('WEBFORM' as const) : origin };
  return {
    id: randomId(),
    context: { ...context, ...(languages.length === 0 && language ? { language } : {}) },
    layout: parent.layout,
    author: actorName(principal, { ...parent, context }),
    parent: parent.id,
  };
}
