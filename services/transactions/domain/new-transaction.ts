import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { randomId } from '#lib/ids/random-id.ts';
import type { ConsentContext } from './context.ts';
import { addDuration } from './duration.ts';
import type { Leader, Transaction } from './transaction.ts';

/** A transaction that is to be made. */
export interface NewTransaction {
  id: string;
  context: ConsentContext;
  layout: PinnedLayout;
  author: string;
  parent: string | null;
  leader?: Leader;
}

/** A transaction of a context as a caller sends it: the caller is its author, unless the context names one. */
export function newTransaction(
  context: ConsentContext,
  layout: PinnedLayout,
  principal: Principal,
): NewTransaction {
  return { id: randomId(), context, layout, author: context.author ?? principal.name, parent: null };
}

/** A transaction as it is when it is made. */
export function createdTransaction({ leader, ...made }: NewTransaction, now: Date): Transaction {
  return {
    ...made,
    ...{ subject: made.context.subject, state: 'CREATED', version: 1, tokenEpoch: 0, answersDigest: null },
    ...{ leader: leader ?? null, createdAt: now, changedAt: now },
    expiresAt: addDuration(now, made.context.timeout),
  };
}
