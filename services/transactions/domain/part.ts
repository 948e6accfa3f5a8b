import type { EventData } from '#lib/contracts/events.gen.ts';
import type { SealedPart } from '#lib/contracts/submissions.ts';
import { shownTexts } from './receipt.ts';
import type { StoredContext } from './transaction.ts';

/** What a peer said of a part, or that it said nothing in time. */
export type SubmissionAnswer = EventData['io.accord.submission.answered.v1'];

/** States of a part at its owner (docs/federation.md). */
export type FollowerState = 'WAITING' | 'SENDING' | 'HELD' | 'ACCEPTED' | 'REFUSED' | 'DROPPED';
/** Those that an answer leads to. */
export type AnsweredState = Extract<FollowerState, 'HELD' | 'ACCEPTED' | 'REFUSED' | 'DROPPED'>;

/** Texts as they were shown, without an answer. */
export interface ShownTexts {
  identifier: string;
  lang: string;
  texts: Record<string, unknown>;
  /** Hex, over the canonical JSON of the texts. */
  sha256: string;
}

/** What one peer asked, as receipts and pages tell it. */
export interface ShownPart {
  information: ShownTexts;
  elements: ShownTexts[];
}

/** The part of a transaction that a peer owns. */
export interface Follower {
  sid: string;
  /** The peer's base URL. */
  location: string;
  name: string;
  state: FollowerState;
  reason: string | null;
  /** The transaction at the peer. */
  remoteId: string | null;
  mode: 'commit' | 'hold';
  shown: ShownPart;
}

/** What a peer's word makes of a part; a word that is absent for a state changes nothing. */
const moves: Readonly<Record<FollowerState, Partial<Record<SubmissionAnswer['verdict'], AnsweredState>>>> = {
  WAITING: {},
  SENDING: {
    committed: 'ACCEPTED',
    held: 'HELD',
    refused: 'REFUSED',
    rolledback: 'REFUSED',
    expired: 'DROPPED',
  },
  // A decision that could not be told does not undo it: its owner asks for it.
  HELD: { committed: 'ACCEPTED', refused: 'REFUSED', rolledback: 'REFUSED' },
  ACCEPTED: {},
  REFUSED: {},
  DROPPED: {},
};

/**
 * What becomes of a part when its owner has answered. What was to be held is not in force before it is decided, whatever its owner says; one that
 * was taken back is in force all the same if its owner says so then: nobody is told otherwise.
 * @returns undefined if nothing changes.
 */
export function moveFollower(
  { state, mode }: Pick<Follower, 'state' | 'mode'>,
  { verdict, reason }: Pick<SubmissionAnswer, 'verdict' | 'reason'>,
): { state: AnsweredState; reason: string | null } | undefined {
  const early = state === 'SENDING' && mode === 'hold' && verdict === 'committed';
  const against = state === 'DROPPED' && mode === 'hold' && verdict === 'committed';
  const next = early ? 'HELD' : against ? 'ACCEPTED' : moves[state][verdict];
  if (!next) return undefined;
  if (next === 'DROPPED') return { state: next, reason: 'expired' };
  return { state: next, reason: next === 'REFUSED' ? (reason ?? 'decided') : null };
}

/** What a peer's word makes of a part whose answers were in force when it was sent, by the state in which the part is. */
export function movesInForce(
  answer: Pick<SubmissionAnswer, 'verdict' | 'reason'>,
): { from: FollowerState; state: AnsweredState; reason: string | null }[] {
  return (Object.keys(moves) as FollowerState[]).flatMap((from) => {
    const move = moveFollower({ state: from, mode: 'commit' }, answer);
    return move ? [{ from, ...move }] : [];
  });
}

/** A peer's part that is to be stored; it is released in the same COMMIT. */
export interface NewFollower {
  sid: string;
  place: number;
  location: string;
  name: string;
  sealed: string;
  mode: Follower['mode'];
  language: string;
  shown: ShownPart;
  /** RFC 3339 */
  deadline: string;
}

/** Parts as they are stored, in the order of the form. @param how what is the same for all. */
export function composeFollowers(
  parts: readonly SealedPart[],
  { mode, language, deadline }: { mode: Follower['mode']; language: string; deadline: Date },
): NewFollower[] {
  return parts.map(({ sid, location, name, sealed, info, elements }, place) => ({
    ...{ sid, place, location, name, sealed, mode, language },
    shown: { information: shownTexts(info), elements: elements.map(shownTexts) },
    deadline: deadline.toISOString(),
  }));
}

const hourMs = 3_600_000;
/** How long a part is tried (federation.md, "Answers" 7). */
const hours: Readonly<Record<StoredContext['peerCommit'], number>> = { independent: 30 * 24, together: 24 };
/** The owner's clock may be wrong, and its answer may have been lost on the last try. */
const graceMs = hourMs;

/** Until when peers' parts of a transaction submitted now are tried; under `together` also until when all of them must be held. */
export function deliveryDeadline({ peerCommit }: Pick<StoredContext, 'peerCommit'>, now: Date): Date {
  return new Date(now.getTime() + hours[peerCommit] * hourMs);
}

/** Until when the owner of a part can open it. */
export function sealExpiry(context: Pick<StoredContext, 'peerCommit'>, now: Date): Date {
  return new Date(deliveryDeadline(context, now).getTime() + graceMs);
}
