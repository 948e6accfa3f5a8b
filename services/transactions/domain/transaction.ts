import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { ConsentContext } from './context.ts';
import type { State } from './states.ts';

/** The transaction at a peer of which this one is a part. */
export interface Leader {
  /** Base URL. */
  location: string;
  id: string;
}

/** A transaction as it is stored. `context` has no layout: the resolved one is pinned in `layout`. */
export interface Transaction {
  id: string;
  subject: string;
  state: State;
  /** Raised by one with every change of state; 1 at creation. */
  version: number;
  context: StoredContext;
  layout: PinnedLayout;
  /** Who created it, or the author that the context names. */
  author: string;
  parent: string | null;
  /** Raising it revokes every token minted before. */
  tokenEpoch: number;
  answersDigest: Buffer | null;
  /** Where its form was shown, if that was at a peer. */
  leader: Leader | null;
  createdAt: Date;
  changedAt: Date;
  expiresAt: Date;
}

/** The context of a transaction, with the layout as it was named (by key or id, or inline). */
export type StoredContext = ConsentContext;

/** A transaction and the database's time when it was read. */
export interface ReadTransaction {
  transaction: Transaction;
  now: Date;
}

/**
 * Whether a form leaves out what has a valid answer. A child never does: it is there to change and withdraw answers (GDPR art. 7(3)), so
 * it asks everything.
 */
export function hidesAnswered({
  layout,
  parent,
}: Pick<Transaction, 'parent'> & { layout: Pick<PinnedLayout, 'existingElementsVisible'> }) {
  return !layout.existingElementsVisible && parent === null;
}
