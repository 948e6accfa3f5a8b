/**
 * Which answer to a question is in force: the one rule (docs/withdrawal.md, "The rule"). It reads no clock
 * and no database. A question is a subject, an object and the key of an element.
 */

import { isNoAnswer } from '#lib/contracts/record-status.ts';

/** Where the person answered: null for a form of this instance, else the base URL of the peer that led. */
export type Source = string | null;

/** `chosen`: the answer to a preference; `none`: it was cleared. */
type Choice = 'accepted' | 'refused' | 'chosen' | 'none';

/** The members of a record that say what was chosen. */
interface Answered {
  type: string;
  value: readonly string[];
  positions: readonly number[] | null;
}

export function choiceOf({ type, value, positions }: Answered): Choice {
  if (type === 'preference') return isNoAnswer({ value, positions }) ? 'none' : 'chosen';
  return value[0] === 'refused' ? 'refused' : 'accepted';
}

/** A committed statement about a question. */
export interface Statement {
  /** Id of its record. */
  id: string;
  source: Source;
  /** When the person made it, by the clock of its source. */
  givenAt: Date;
  /** When this instance committed it, by its own clock. */
  committedAt: Date;
  /** The person's position that it took. */
  position: number;
  choice: Choice;
  /** Whether it is a refusal that ended a consent, in force or waiting. */
  endedConsent: boolean;
  /** Whether a leader ordered this withdrawal. */
  isOrdered: boolean;
  /** Whether it was taken over from another system: then both times say when it was given there. */
  isImported: boolean;
  isInForce: boolean;
}

/** A statement that is about to be committed. */
export interface Incoming {
  source: Source;
  givenAt: Date;
  /** When this instance received it: later than `givenAt` for the part of a peer. */
  receivedAt: Date;
  /**
   * The person's position that it took when it was submitted, if it has waited for a code, for peers or for
   * its leader; null if it is committed at once.
   */
  waitingSince: number | null;
  choice: Choice;
  /** Whether it is implied: no choice was offered or made (receipts/notices.ts, `isImplied`). */
  isNotice: boolean;
  /** Whether it is taken over from another system. */
  isImported?: boolean;
}

/** What is known of a question. */
export interface Question {
  /** At least the statement in force, and those that may be later than the incoming one. */
  statements: readonly Statement[];
  /** When the person last withdrew a part with this question at its leader, by the clock of the leader. */
  orderedAt: Date | null;
}

/** What a person has said about some questions of one object, as of the person's position. */
export interface Standing {
  /** What is decided by this standing is stored only if the position is still the same. */
  position: number;
  /** The time at which it was read. */
  now: Date;
  questions: ReadonlyMap<string, Question>;
}

/** The question with this key. */
export function questionOf({ questions }: Pick<Standing, 'questions'>, key: string): Question {
  return questions.get(key) ?? { statements: [], orderedAt: null };
}

/** What a statement does when it is committed. */
export interface Effect {
  /** False: it is never in force, because it counts as older than another statement, or clears the answer. */
  isInForce: boolean;
  /** The statement that it replaces. */
  ends: Statement | null;
  /** Whether it ends a consent that was in force. */
  withdraws: boolean;
  /** When the consent was withdrawn after it was given, if that is why it is not in force. */
  withdrawnAt: Date | null;
}

/** Says what a statement does to what was said before. */
export function effectOf(incoming: Incoming, question: Question): Effect {
  const current = currentOf(question);
  const later = question.statements.filter((statement) => isLater(statement, incoming));
  const isOrdered = incoming.choice === 'accepted' && isCoveredByOrder(incoming, question);
  const isRefusedNotice = incoming.isNotice && current?.choice === 'refused';
  if (incoming.choice === 'none') {
    // The person has no answer then: nothing is in force.
    const ends = later.length === 0 ? current : null;
    return { isInForce: false, ends, withdraws: false, withdrawnAt: null };
  }
  if (later.length === 0 && !isOrdered && !isRefusedNotice)
    return {
      isInForce: true,
      ends: current,
      withdraws: incoming.choice === 'refused' && current?.choice === 'accepted',
      withdrawnAt: null,
    };
  const refusals = [...later, ...(isRefusedNotice && current ? [current] : [])].filter(
    ({ choice }) => choice === 'refused',
  );
  const times = [...refusals.map(refusedAt), ...(isOrdered ? [question.orderedAt as Date] : [])];
  const isConsent = incoming.choice === 'accepted' && times.length > 0;
  return { isInForce: false, ends: null, withdraws: false, withdrawnAt: isConsent ? earliest(times) : null };
}

/**
 * Whether an answer of another system may not be taken over: a consent that was given after a refusal of the
 * person was collected here. Two clocks cannot be compared, so only the person can consent again, here.
 */
export function isRefusedHere(incoming: Incoming, question: Question): boolean {
  const current = currentOf(question);
  return (
    incoming.isImported === true &&
    incoming.choice === 'accepted' &&
    current?.choice === 'refused' &&
    !current.isImported &&
    current.committedAt < incoming.givenAt
  );
}

/** The statement in force. */
export function currentOf({ statements }: Question): Statement | null {
  return statements.find(({ isInForce }) => isInForce) ?? null;
}

/**
 * Whether a committed statement counts as later than the incoming one.
 *
 * - Both were made at the forms of one leader: its clock orders them.
 * - The incoming one is a part of a peer, the committed one was made elsewhere: two clocks cannot be
 *   compared, so a refusal wins that was committed here after the part was given, or after it arrived, if
 *   that is earlier.
 * - The incoming one was given at this instance and has waited: a refusal is later that was committed since
 *   and ended a consent, unless a leader ordered it. Otherwise entering the code is the newest act.
 * - The incoming one was given at this instance and is committed at once: nothing is later.
 * - One of them was taken over from another system: the times at which they were given order them. At the
 *   same time, what was collected here is later; of two that were taken over, the refusal.
 */
function isLater(statement: Statement, incoming: Incoming): boolean {
  const isRefusal = statement.choice === 'refused';
  if (incoming.isImported) {
    if (statement.committedAt.getTime() !== incoming.givenAt.getTime())
      return statement.committedAt > incoming.givenAt;
    return !statement.isImported || (isRefusal && incoming.choice !== 'refused');
  }
  if (statement.isImported && incoming.source === null)
    return isRefusal && statement.committedAt > incoming.givenAt;
  if (incoming.source !== null) {
    if (statement.source === incoming.source) return statement.givenAt > incoming.givenAt;
    return isRefusal && statement.committedAt >= earliest([incoming.givenAt, incoming.receivedAt]);
  }
  if (incoming.waitingSince === null || statement.isOrdered) return false;
  return statement.endedConsent && statement.position > incoming.waitingSince;
}

/** Whether the leader of an incoming part has ordered, after it was given, to withdraw the question. */
function isCoveredByOrder({ givenAt }: Incoming, { orderedAt }: Question): boolean {
  return orderedAt !== null && orderedAt > givenAt;
}

/** When a refusal took effect for the person: at a peer's form, when it was given. */
function refusedAt({ source, givenAt, committedAt }: Statement): Date {
  return source === null ? committedAt : givenAt;
}

/** Since when statements may count as later than an incoming one, by any of the clocks. */
export function sinceOf({ source, givenAt, receivedAt }: Incoming): { source: Source; at: Date } {
  return { source, at: earliest([givenAt, receivedAt]) };
}

/** An answer that an order of a leader may withdraw. */
export interface Ordered {
  source: Source;
  givenAt: Date;
  /** Whether it was given in the part that the order names. */
  isOfPart: boolean;
  isNotice: boolean;
}

/**
 * Whether the order of a leader to withdraw a part ends an answer: one of this part, or of another part of
 * the same leader that was given before the person withdrew there. A notice shows no choice, so it ends also
 * if it was shown later.
 * @param order.withdrawnAt undefined if the leader does not state it.
 */
export function isEndedByOrder(
  { source, givenAt, isOfPart, isNotice }: Ordered,
  { leader, withdrawnAt }: { leader: string; withdrawnAt: Date | undefined },
): boolean {
  if (isOfPart) return true;
  if (withdrawnAt === undefined || source !== leader) return false;
  return isNotice || givenAt <= withdrawnAt;
}

function earliest(times: readonly Date[]): Date {
  return times.reduce((first, time) => (time < first ? time : first));
}
