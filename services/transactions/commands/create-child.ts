import type { Principal } from '#lib/contracts/principal.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { actorName, noSuchTransaction, requireAccess } from '../domain/access.ts';
import { isFinal, type ReadTransaction, stateAt, type Transaction } from '../domain/transaction.ts';
import { closeExpiredChild, lockTransaction, readOpenChild } from '../queries/change-state.ts';
import { insertTransaction } from '../queries/create-transaction.ts';
import { readTransaction } from '../queries/transactions.ts';

/** What may have a child: a final transaction that is updatable (docs/interface.md, "Children"). */
export function requireUpdatable({ transaction, now }: ReadTransaction): void {
  const state = stateAt(transaction, now);
  if (!isFinal(state)) throw fail('wrong-state', 'The transaction is not final yet.', { members: { state } });
  if (!transaction.context.updatable)
    throw fail('wrong-state', 'This transaction cannot be updated.', { members: { state } });
}

/**
 * Makes a transaction based on a final one, or returns the open one made before: one open child per parent.
 * @param languages what the caller reads; the child is shown in their language.
 * @throws Failure `not-found`, `wrong-state`.
 */
export async function createChild(
  { db, source, wake }: { db: Database; source: string; wake: () => void },
  { id, principal, languages }: { id: string; principal: Principal; languages: string[] },
): Promise<ReadTransaction & { created: boolean }> {
  const parent = await readTransaction(db, id);
  if (!parent) throw noSuchTransaction();
  requireAccess(principal, parent, 'result');
  requireUpdatable(parent);
  const made = await db.withTransaction(async (tx) => {
    // The parent's row lock: of several who ask at once, one makes the child and the others find it.
    await lockTransaction(tx, id);
    return (
      (await readOpen(tx, id, source)) ?? (await insert(tx, parent.transaction, principal, languages, source))
    );
  });
  if (made.created) wake();
  return made;
}

async function readOpen(tx: Queries, parent: string, source: string) {
  await closeExpiredChild(tx, parent, source);
  const open = await readOpenChild(tx, parent);
  return open && { ...open, created: false };
}

async function insert(
  tx: Queries,
  parent: Transaction,
  principal: Principal,
  languages: string[],
  source: string,
) {
  const { author: _author, language, origin, ...rest } = parent.context;
  // Its form is shown here, whoever showed the parent's.
  const context = { ...rest, origin: origin === 'PEER' ? ('WEBFORM' as const) : origin };
  const made = await insertTransaction(
    tx,
    {
      id: randomId(),
      context: { ...context, ...(languages.length === 0 && language ? { language } : {}) },
      layout: parent.layout,
      author: actorName(principal, { ...parent, context }),
      parent: parent.id,
    },
    source,
  );
  return { ...made, created: true };
}
