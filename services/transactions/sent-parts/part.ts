import type { SealedPart } from '#lib/contracts/parts.ts';
import { longestValidityOf } from '#lib/text/answer-validity.ts';
import type { ShownPart } from '../receipts/receipt.ts';
import { shownTexts } from '../receipts/receipt.ts';
import type { ConsentContext } from '../transaction/context.ts';
import type { NoticeState, ReportedVerdict } from './notice.ts';

/**
 * A verdict of the owner on a part or on the decision about it, or a verdict that the service `peers` gives:
 * `expired` if the part or the decision was not acknowledged in time.
 */
type PartVerdict = Pick<ReportedVerdict, 'verdict' | 'reason'>;

/** States of a part at the leader (docs/federation.md, "Answers at the leader"). */
export type PartState = 'WAITING' | 'SENDING' | 'HELD' | 'ACCEPTED' | 'REFUSED' | 'DROPPED';

type VerdictState = Exclude<PartState, 'WAITING' | 'SENDING'>;

/** What a verdict does to a part. */
export interface Move {
  state: VerdictState;
  reason: string | null;
}

/** A part as the leader stores it. */
export interface Part {
  sid: string;
  /** The owner's base URL. */
  location: string;
  /** The owner's name. */
  name: string;
  state: PartState;
  reason: string | null;
  /** Id of the transaction at the owner. */
  remoteId: string | null;
  /** `hold`: the owner waits for the leader's decision. */
  mode: 'commit' | 'hold';
  shown: ShownPart;
  changedAt: Date;
  /** What the owner knows of the withdrawal of the part; null if it was not withdrawn. */
  withdrawal: { state: Exclude<NoticeState, 'DELIVERED'>; since: string } | null;
}

/** A part to be stored with its submission. */
export interface NewPart extends Pick<Part, 'sid' | 'location' | 'name' | 'mode' | 'shown'> {
  /** Position in the form. */
  place: number;
  sealed: string;
  language: string;
  /** How long the answers hold at their owner; null: one of them never expires. */
  validity: string | null;
  /** RFC 3339 */
  deadline: string;
}

/** Parts in the order of the form. */
export function composeParts(
  sealed: readonly SealedPart[],
  common: { mode: Part['mode']; language: string; deadline: Date },
  { validity, now }: { validity: string | undefined; now: Date },
): NewPart[] {
  return sealed.map(({ info, elements, ...part }, place) => {
    const shown = { information: shownTexts(info), elements: elements.map(shownTexts) };
    return {
      ...part,
      ...common,
      place,
      shown,
      deadline: common.deadline.toISOString(),
      validity: longestValidityOf(shown.elements, validity, now),
    };
  });
}

/**
 * The next state by state and verdict. A verdict that a state does not list changes nothing, except as
 * `moveAfter` says.
 */
const moves: Readonly<Record<PartState, Partial<Record<PartVerdict['verdict'], VerdictState>>>> = {
  // The part was not sent, so there is no verdict on it.
  WAITING: {},
  SENDING: {
    done: 'ACCEPTED',
    held: 'HELD',
    refused: 'REFUSED',
    expired: 'DROPPED',
  },
  // `expired`: the decision `commit` was not acknowledged in time. The owner has rolled its part back, unless
  // it received the decision or requested it.
  HELD: { done: 'ACCEPTED', refused: 'REFUSED', expired: 'DROPPED' },
  ACCEPTED: {},
  REFUSED: {},
  DROPPED: {},
};

/**
 * The state of a part after its owner's verdict. `done` makes a DROPPED part ACCEPTED, because its
 * answers are in force at the owner. With mode `hold` it makes a SENDING part HELD, because the transaction
 * still waits for the other parts.
 * @returns undefined if nothing changes.
 */
export function moveAfter(
  { state, mode }: Pick<Part, 'state' | 'mode'>,
  { verdict, reason }: PartVerdict,
): Move | undefined {
  const isCommitted = verdict === 'done';
  const beforeDecision = isCommitted && mode === 'hold' && state === 'SENDING';
  const afterDrop = isCommitted && state === 'DROPPED';
  const next = beforeDecision ? 'HELD' : afterDrop ? 'ACCEPTED' : moves[state][verdict];
  if (!next) return undefined;
  if (next === 'DROPPED') return { state: next, reason: 'expired' };
  return { state: next, reason: next === 'REFUSED' ? (reason ?? 'decided') : null };
}

/** What a verdict does to a part with mode `commit`, for each state of the part. */
export function movesInCommitMode(verdict: PartVerdict): (Move & { from: PartState })[] {
  return (Object.keys(moves) as PartState[]).flatMap((from) => {
    const move = moveAfter({ state: from, mode: 'commit' }, verdict);
    return move ? [{ from, ...move }] : [];
  });
}

const hourMs = 3_600_000;

/** How many hours delivery of a part is attempted (docs/federation.md, "Answers at the leader"). */
const hours: Readonly<Record<ConsentContext['peerCommit'], number>> = { independent: 30 * 24, together: 24 };

/**
 * An hour allows for a clock difference, and for a last attempt that arrives after the deadline. A
 * single step seals the answers before its database transaction starts, and its deadline counts from that
 * start; five minutes cover the time between.
 */
const graceMs = hourMs + 5 * 60_000;

/** The deadline for delivery of parts; under `together` all owners must hold their parts by then. */
export function deliveryDeadline({ peerCommit }: Pick<ConsentContext, 'peerCommit'>, released: Date): Date {
  return new Date(released.getTime() + hours[peerCommit] * hourMs);
}

/** The last time at which an owner can open its part. @param released the latest time of its release. */
export function sealExpiry(context: Pick<ConsentContext, 'peerCommit'>, released: Date): Date {
  return new Date(deliveryDeadline(context, released).getTime() + graceMs);
}
