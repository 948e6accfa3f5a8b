import type { PinnedLayout } from '#lib/contracts/forms.ts';
import { isStaff, type Principal } from '#lib/contracts/principal.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { addDuration } from '#lib/text/duration.ts';
import type { ConsentContext, ReadContext } from './context.ts';

/** States of a transaction (docs/interface.md, "States"). */
export const states = ['CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'] as const;
export type State = (typeof states)[number];

/**
 * What moves a transaction from one state to another. `commit` commits answers when they are submitted,
 * `commit-submitted` later: with the right code, when all owners hold their parts, or when the leader of a
 * held part has decided `commit`.
 */
export type Trigger = 'commit' | 'submit' | 'commit-submitted' | 'cancel' | 'time-out' | 'roll-back';

/** The state table. A state ignores the triggers that it does not list. */
export const transitions: Readonly<Record<State, Partial<Record<Trigger, State>>>> = {
  CREATED: { commit: 'COMMITTED', submit: 'SUBMITTED', cancel: 'CANCELLED', 'time-out': 'TIMEOUT' },
  SUBMITTED: {
    'commit-submitted': 'COMMITTED',
    cancel: 'CANCELLED',
    'time-out': 'TIMEOUT',
    'roll-back': 'ROLLBACK',
  },
  COMMITTED: {},
  CANCELLED: {},
  TIMEOUT: {},
  ROLLBACK: {},
};

/** The transaction at the peer that showed the form. */
export interface Leader {
  /** Base URL. */
  location: string;
  id: string;
}

/**
 * `WITHDRAWAL`: made to withdraw consents, without a form. `IMPORT`: its answers were taken over from another
 * system. Null: answers to a form.
 */
export type TransactionKind = 'WITHDRAWAL' | 'IMPORT' | null;

/** A transaction as it is stored. */
export interface Transaction {
  id: string;
  subject: string;
  state: State;
  /** 1 at creation, plus 1 for each change of state. */
  version: number;
  /** As it was sent, with defaults; the resolved layout is pinned in `layout`. */
  context: ConsentContext;
  layout: PinnedLayout;
  kind: TransactionKind;
  /** The creator, or the author that the context names. */
  author: string;
  /** Who created it, or the transaction that it is based on ({@link creatorOf}); null: not known. */
  createdBy: string | null;
  /** Whether mails may be sent to its address: not one that such an account is not known to have. */
  isAddressKnown: boolean;
  parent: string | null;
  /** Tokens minted under a lower epoch are revoked. */
  tokenEpoch: number;
  answersDigest: Buffer | null;
  /** Whether submitted answers await the subject's code; stays true if the transaction ends without it. */
  awaitsCode: boolean;
  /** Null unless a peer showed the form. */
  leader: Leader | null;
  createdAt: Date;
  changedAt: Date;
  expiresAt: Date;
  /** When the last of its committed answers expires; null: none does, or they are not committed. */
  validUntil: Date | null;
  /** When its personal data were erased (docs/erasure.md). */
  erasedAt: Date | null;
}

/** A transaction and the database's time when it was read. */
export interface ReadTransaction {
  transaction: Transaction;
  now: Date;
}

export interface NewTransaction {
  id: string;
  context: ConsentContext;
  layout: PinnedLayout;
  author: string;
  parent: string | null;
  leader?: Leader;
  kind?: 'WITHDRAWAL';
  createdBy: string | null;
  /** True by default, as for what the organisation or a peer creates. */
  isAddressKnown?: boolean;
}

/** A transaction for a context that a caller sent. */
export function newTransaction(
  { context, isAddressKnown }: Pick<ReadContext, 'context' | 'isAddressKnown'>,
  layout: PinnedLayout,
  principal: Principal,
): NewTransaction {
  const author = context.author ?? principal.name;
  const createdBy = creatorOf(principal);
  return { id: randomId(), context, layout, author, parent: null, createdBy, isAddressKnown };
}

/**
 * Against whom messages count: `user:…` for an account of role user, `staff user:…`, `key:…` and `peer:…` for
 * the others; {@link publicCreator} for strangers.
 */
export function creatorOf(principal: Principal): string {
  return isStaff(principal) ? `staff ${principal.account}` : principal.account;
}

/** {@link creatorOf} for strangers at the address of a form. @param form entry id of the layout. */
export function publicCreator(form: string): string {
  return `public:${form}`;
}

/** Whether a stranger has begun at the address of a form: nothing proves who it is before the code. */
export function isByStranger({ createdBy }: Pick<Transaction, 'createdBy'>): boolean {
  return createdBy?.startsWith('public:') === true;
}

/** How long a stranger at the address of a form has to answer, and then to enter the code. */
export const strangersTime = 'PT1H';

/** Until when answers that are submitted at `now` wait for their code. */
export function confirmationDeadline(
  transaction: Pick<Transaction, 'createdBy' | 'expiresAt'>,
  now: Date,
): Date {
  const { expiresAt } = transaction;
  if (!isByStranger(transaction)) return expiresAt;
  const later = addDuration(now, strangersTime);
  return later > expiresAt ? later : expiresAt;
}

/** A transaction as it is stored when it is created at `now`. */
export function createdTransaction(created: NewTransaction, now: Date): Transaction {
  return {
    ...created,
    leader: created.leader ?? null,
    kind: created.kind ?? null,
    isAddressKnown: created.isAddressKnown ?? true,
    subject: created.context.subject,
    state: 'CREATED',
    version: 1,
    tokenEpoch: 0,
    answersDigest: null,
    awaitsCode: false,
    createdAt: now,
    changedAt: now,
    expiresAt: addDuration(now, created.context.timeout),
    validUntil: null,
    erasedAt: null,
  };
}

/** Whether no trigger changes the state. */
export function isFinal(state: State): boolean {
  return Object.keys(transitions[state]).length === 0;
}

/** The states that a trigger changes. */
export function statesBefore(trigger: Trigger): State[] {
  return states.filter((state) => transitions[state][trigger] !== undefined);
}

/**
 * The state that readers see: a passed deadline counts at once, before the sweeper writes it. Past the
 * subject's deadline the state is TIMEOUT, past the deadline for peers it is ROLLBACK.
 * @param transaction.leader with a leader the deadline is only shown (`expires`): the leader decides, or the
 * service `peers` rolls the part back after 25 hours.
 * @param now the database's time.
 */
export function stateAt(
  {
    state,
    awaitsCode,
    expiresAt,
    leader = null,
  }: Pick<Transaction, 'state' | 'awaitsCode' | 'expiresAt'> & { leader?: object | null },
  now: Date,
): State {
  if (leader || expiresAt > now || isFinal(state)) return state;
  return state === 'SUBMITTED' && !awaitsCode ? 'ROLLBACK' : 'TIMEOUT';
}

/** A state that a transaction has had, since `at`. */
export interface HistoryEntry {
  version: number;
  state: State;
  at: Date;
}

/** The history that readers see: it ends with the state of `stateAt`, also before the sweeper writes it. */
export function historyAt(
  stored: readonly HistoryEntry[],
  { transaction, now }: ReadTransaction,
): HistoryEntry[] {
  const latest = stored.at(-1);
  const state = stateAt(transaction, now);
  if (!latest || latest.version > transaction.version || latest.state === state) return [...stored];
  return [...stored, { version: latest.version + 1, state, at: transaction.expiresAt }];
}

/** Whether the next step is to enter a code. */
export function isAwaitingCode({ transaction, now }: ReadTransaction): boolean {
  return stateAt(transaction, now) === 'SUBMITTED' && transaction.awaitsCode;
}

/**
 * Whether a form leaves out elements that have a valid answer. The form of a child shows all elements: it
 * lets the subject change and withdraw answers (GDPR, article 7(3)).
 */
export function hidesAnswered(transaction: Pick<Transaction, 'layout' | 'context' | 'parent'>): boolean {
  const { layout, parent } = transaction;
  return parent === null && (!layout.existingElementsVisible || asksChanged(transaction));
}

/** Whether only questions without a valid answer are asked (docs/interface.md, "Asking again"). */
export function asksChanged({ context, parent }: Pick<Transaction, 'context' | 'parent'>): boolean {
  return parent === null && context.ask === 'CHANGED' && !context.silent;
}

/**
 * Whether elements of peers need no answer: in a child, and if only changed questions are asked, because only
 * the peer knows the earlier answer.
 */
export function peersMayStayUnanswered(transaction: Pick<Transaction, 'context' | 'parent'>): boolean {
  return transaction.parent !== null || asksChanged(transaction);
}
