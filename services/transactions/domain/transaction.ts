import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import type { ConsentContext } from './context.ts';
import { addDuration } from './values.ts';

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

/** States of a transaction (interface.md, "States and transitions"). */
export const states = ['CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'] as const;
export type State = (typeof states)[number];

/** What moves a transaction from one state to another. */
export type Trigger = 'commit' | 'submit' | 'confirm' | 'cancel' | 'time-out' | 'roll-back';

/**
 * The one state table (docs/interface.md, "States"): types, SQL checks, API and tests follow it.
 * A trigger that is absent for a state is not possible in it.
 */
export const transitions: Readonly<Record<State, Partial<Record<Trigger, State>>>> = {
  CREATED: { commit: 'COMMITTED', submit: 'SUBMITTED', cancel: 'CANCELLED', 'time-out': 'TIMEOUT' },
  SUBMITTED: { confirm: 'COMMITTED', cancel: 'CANCELLED', 'time-out': 'TIMEOUT', 'roll-back': 'ROLLBACK' },
  COMMITTED: {},
  CANCELLED: {},
  TIMEOUT: {},
  ROLLBACK: {},
};

/** A final state is left by no trigger. */
export function isFinal(state: State): boolean {
  return Object.keys(transitions[state]).length === 0;
}

/** The states that a trigger leaves. */
export function statesBefore(trigger: Trigger): State[] {
  return states.filter((state) => transitions[state][trigger] !== undefined);
}

/** What the deadline is to a transaction that is open: the subject's time is over, or that of the peers that were to hold. */
const atDeadline: Readonly<Partial<Record<State, Trigger>>> = { CREATED: 'time-out', SUBMITTED: 'roll-back' };

/** The open states, and the one that each has from its deadline on. */
export const afterDeadline: readonly (readonly [State, State])[] = states.flatMap((state) => {
  const trigger = atDeadline[state];
  const next = trigger && transitions[state][trigger];
  return next ? [[state, next] as const] : [];
});

/**
 * The state as any reader sees it: a deadline that has passed counts at once, before the sweeper writes it.
 * @param transaction.leader one that has a leader has no deadline: its leader alone decides. @param now the database's time.
 */
export function stateAt(
  { state, expiresAt, leader = null }: { state: State; expiresAt: Date; leader?: object | null },
  now: Date,
): State {
  if (leader) return state;
  const next = expiresAt <= now ? afterDeadline.find(([open]) => open === state)?.[1] : undefined;
  return next ?? state;
}

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
