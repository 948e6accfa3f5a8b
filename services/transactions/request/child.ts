import type { Principal } from '#lib/contracts/principal.ts';
import type { Queries } from '#lib/db/database.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { closeExpiredChild } from '../answer/end-transactions.ts';
import { recordByStaff } from '../answer/record-by-staff.ts';
import { queueBadNews } from '../messages/queue.ts';
import { lockSubject } from '../person/positions-sql.ts';
import { authorOf, requireAccess, requireUpdatable } from '../transaction/access.ts';
import { insertTransaction, lockTransaction, readOpenChild, readTransaction } from '../transaction/store.ts';
import type { NewTransaction, ReadTransaction, Transaction } from '../transaction/transaction.ts';
import { isByStranger } from '../transaction/transaction.ts';
import type { CreateDependencies } from './create.ts';
import { requireUnderDailyLimit } from './daily-limit.ts';

/**
 * Creates a transaction based on a final one, or returns its open child (docs/interface.md, "Children").
 * @param languages of the caller, which replace the language of the parent's context; may be empty.
 * @throws Failure `not-found`, `wrong-state`, `too-many-requests`.
 */
export async function createChild(
  { db, instance, messaging, wake }: Omit<CreateDependencies, 'forms'>,
  { id, principal, languages }: { id: string; principal: Principal; languages: string[] },
): Promise<ReadTransaction & { created: boolean }> {
  const source = instance.baseUrl;
  const readParent = async (queries: Queries) => {
    const read = requireAccess(principal, await readTransaction(queries, id), 'result');
    requireUpdatable(read);
    return read;
  };
  const { subject } = (await readParent(db)).transaction;
  const child = await db.withTransaction(async (tx) => {
    await lockSubject(tx, subject);
    // One of several concurrent requests creates the child; the others find it.
    await lockTransaction(tx, id);
    // The person may have been erased while the locks were waited for.
    const parent = await readParent(tx);
    await queueBadNews(tx, messaging, await closeExpiredChild(tx, id, source));
    const open = await readOpenChild(tx, id);
    if (open) return { ...open, created: false };
    await requireUnderDailyLimit(tx, principal, subject);
    const created = await insertTransaction(tx, childOf(parent.transaction, principal, languages), source);
    await recordByStaff(tx, principal, 'transaction.created', created.transaction.id);
    return { ...created, created: true };
  });
  if (child.created) wake();
  return child;
}

function childOf(parent: Transaction, principal: Principal, languages: string[]): NewTransaction {
  const { author: _author, collection: _collection, language, origin, ...rest } = parent.context;
  // This instance shows the form of the child, even if a peer showed the parent's.
  const context = {
    ...rest,
    origin: origin === 'PEER' ? ('WEBFORM' as const) : origin,
    // A stranger sees no earlier answers before the code; the parent was committed with it.
    silent: rest.silent && !(isByStranger(parent) && parent.state === 'COMMITTED'),
  };
  return {
    id: randomId(),
    context: { ...context, ...(languages.length === 0 && language ? { language } : {}) },
    layout: parent.layout,
    author: authorOf(principal, { ...parent, context }),
    parent: parent.id,
    createdBy: parent.createdBy,
    isAddressKnown: parent.isAddressKnown,
  };
}
