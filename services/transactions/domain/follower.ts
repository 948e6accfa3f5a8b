import type { EventData } from '#lib/contracts/events.gen.ts';

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
