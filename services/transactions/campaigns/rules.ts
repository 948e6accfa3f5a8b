import { Temporal } from 'temporal-polyfill';
import { isNoAnswer, isRefusal, recordStatus } from '#lib/contracts/record-status.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';

/** Why a person has to be asked again (openapi.yaml, `CampaignSelectionInput`), the most urgent first. */
export const reasons = ['EXPIRED', 'CHANGED', 'EXPIRING', 'NEVER'] as const;
export type Reason = (typeof reasons)[number];

/** Why a person is not asked (openapi.yaml, `CampaignMember`): the first that applies. */
export type Exclusion = 'REFUSED' | 'UNSUBSCRIBED' | 'HELD' | 'NO_ADDRESS' | 'RECENT' | 'ENDED';

export type CampaignState = 'DRAFT' | 'RUNNING' | 'PAUSED' | 'DONE' | 'CANCELLED';

/** States of a person in a campaign (openapi.yaml, `CampaignMemberState`). */
export const memberStates = [
  ...['PICKED', 'SENDING', 'SENT', 'ANSWERED', 'CLOSED'],
  ...['SKIPPED', 'FAILED', 'UNSUBSCRIBED', 'UNSURE'],
] as const;
export type MemberState =
  | 'PICKED'
  | 'SENDING'
  | 'SENT'
  | 'ANSWERED'
  | 'CLOSED'
  | 'SKIPPED'
  | 'FAILED'
  | 'UNSUBSCRIBED'
  | 'UNSURE';

/**
 * Where a state can lead. A message is sent only on the way to SENDING, so nothing is sent from a state that
 * does not lead there. SENDING goes back only if the message was certainly not accepted.
 */
export const memberMoves: Readonly<Record<MemberState, readonly MemberState[]>> = {
  PICKED: ['SENDING', 'ANSWERED', 'SKIPPED', 'UNSUBSCRIBED'],
  SENDING: ['PICKED', 'SENT', 'FAILED', 'UNSURE', 'ANSWERED', 'CLOSED'],
  SENT: ['SENDING', 'ANSWERED', 'CLOSED', 'UNSUBSCRIBED'],
  UNSURE: ['SENT', 'ANSWERED', 'CLOSED', 'UNSUBSCRIBED'],
  ANSWERED: [],
  CLOSED: [],
  SKIPPED: [],
  FAILED: [],
  UNSUBSCRIBED: [],
};

/** An answer of a person that is in force. */
export interface AnswerFacts {
  object: string;
  key: string;
  type: string;
  serial: string;
  infoKey: string;
  infoSerial: string;
  value: string[];
  /** Null without options. */
  positions: number[] | null;
  expiresAt: Date | null;
}

/** What decides whether a person is asked. */
export interface PersonFacts {
  answers: readonly AnswerFacts[];
  isUnsubscribed: boolean;
  /** A hold is in force, or an erasure has not ended. */
  isHeld: boolean;
  hasAddress: boolean;
  /** Another campaign has sent a message within {@link restDays}. */
  isRecent: boolean;
}

/** Between two messages of campaigns to one person, reminders included. */
export const restDays = 7;

/** What is looked for. */
export interface Wanted {
  keys: readonly string[];
  who: readonly Reason[];
  /** Only answers about this object; undefined: about any. */
  object: string | undefined;
  active: ActiveVersions;
  now: Date;
  /** Answers that expire by then are EXPIRING. */
  until: Date;
}

/** A question that has to be asked again. */
export interface Need {
  object: string;
  key: string;
  reason: Reason;
}

/**
 * Why an answer does not count any more, or soon will not; undefined for one that stays. Refusals are found,
 * too, as the forecast of a MAJOR counts them: {@link exclusionOf} leaves out who has refused.
 */
function reasonOf(answer: AnswerFacts, { active, now, until }: Wanted): Reason | undefined {
  const [status, explanation] = recordStatus(
    { ...answer, state: 'COMMITTED', isInForce: true, isNoAnswer: isNoAnswer(answer) },
    active,
    now,
  );
  if (status === 'EXPIRED') return 'EXPIRED';
  if (explanation === 'INFO_SERIAL_ARCHIVED' || explanation === 'BODY_SERIAL_ARCHIVED') return 'CHANGED';
  if (status !== 'VALID') return undefined;
  return answer.expiresAt && answer.expiresAt <= until ? 'EXPIRING' : undefined;
}

/** The questions that have to be asked again, of any reason: the most urgent first. */
export function needsOf({ answers }: Pick<PersonFacts, 'answers'>, wanted: Wanted): Need[] {
  const counted = answers.filter(
    ({ key, object }) =>
      wanted.keys.includes(key) && (wanted.object === undefined || object === wanted.object),
  );
  const given = counted.flatMap((answer) => {
    const reason = reasonOf(answer, wanted);
    return reason ? [{ object: answer.object, key: answer.key, reason }] : [];
  });
  const answered = new Set(counted.map(({ key }) => key));
  const never = wanted.keys
    .filter((key) => !answered.has(key))
    .map((key) => ({ object: wanted.object ?? '', key, reason: 'NEVER' as const }));
  const rank = ({ reason }: Need) => reasons.indexOf(reason);
  return [...given, ...never]
    .filter(({ reason }) => wanted.who.includes(reason))
    .sort((a, b) => rank(a) - rank(b) || (a.object < b.object ? -1 : Number(a.object > b.object)));
}

/** Why a person must not be asked; undefined: may be. */
export function exclusionOf(person: PersonFacts, keys: readonly string[]): Exclusion | undefined {
  if (person.answers.some((answer) => keys.includes(answer.key) && isRefusal(answer))) return 'REFUSED';
  if (person.isUnsubscribed) return 'UNSUBSCRIBED';
  if (person.isHeld) return 'HELD';
  if (!person.hasAddress) return 'NO_ADDRESS';
  return person.isRecent ? 'RECENT' : undefined;
}

/** What has become of the transaction of a member; null: there is none yet. */
export type Outcome = 'OPEN' | 'COMMITTED' | 'ENDED' | null;

/** What happens to a member whose message is due, or who is looked at again. */
export type Verdict =
  | { state: 'SKIPPED' | 'UNSUBSCRIBED' | 'ANSWERED' | 'CLOSED'; why?: Exclusion }
  | 'SEND'
  /** The person has got a message of another campaign a few days ago; a reminder can wait. */
  | 'WAIT';

/** The reasons for which a person has to be asked who was picked for `who`: time changes the reason. */
function stillWanted(who: readonly Reason[]): Reason[] {
  const ends = who.includes('EXPIRING') || who.includes('CHANGED');
  return reasons.filter(
    (reason) =>
      who.includes(reason) ||
      (reason === 'EXPIRED' && ends) ||
      (reason === 'CHANGED' && who.includes('EXPIRING')),
  );
}

/**
 * Decides, by what is known in the same moment, whether a member is still to be asked. A person who has
 * answered, there or elsewhere, is not; to refuse after being asked is an answer, too.
 */
export function judge(
  { state, outcome }: { state: MemberState; outcome: Outcome },
  person: PersonFacts,
  wanted: Wanted,
): Verdict {
  if (outcome === 'COMMITTED') return { state: 'ANSWERED' };
  const why = exclusionOf(person, wanted.keys);
  const isAsked = state !== 'PICKED';
  if (why === 'UNSUBSCRIBED') return { state: 'UNSUBSCRIBED', why };
  if (why === 'REFUSED' && isAsked) return { state: 'ANSWERED' };
  const needs = needsOf(person, { ...wanted, who: stillWanted(wanted.who) });
  if (needs.length === 0 && why !== 'REFUSED') return { state: 'ANSWERED' };
  if (outcome === 'ENDED') return { state: 'CLOSED' };
  if (why === 'RECENT' && isAsked) return 'WAIT';
  if (why) return { state: isAsked ? 'CLOSED' : 'SKIPPED', why };
  return 'SEND';
}

/** How an attempt to send ended. `unsent`: it was certainly not accepted, and is tried again. */
export type Attempt = 'sent' | 'unsent' | 'refused' | 'unsure';

/**
 * The state after an attempt. Only what was certainly not accepted may be tried again.
 * @param step messages that were sent before. @param mayRetry whether an attempt is left.
 */
export function afterAttempt(attempt: Attempt, step: number, mayRetry: boolean): MemberState {
  if (attempt === 'sent') return 'SENT';
  if (attempt === 'unsure') return 'UNSURE';
  if (attempt === 'refused' || !mayRetry) return 'FAILED';
  return step === 0 ? 'PICKED' : 'SENT';
}

/** A campaign never catches up on more than so many milliseconds in which nothing could be sent. */
const burstMs = 2_000;

/**
 * How many messages the pace allows now, and until when they use it up.
 * @param usedUntil until when the pace is used up. @param wanted at most so many.
 */
export function grant(
  { perMinute, usedUntil, now }: { perMinute: number; usedUntil: Date; now: Date },
  wanted: number,
): { count: number; usedUntil: Date } {
  const eachMs = 60_000 / perMinute;
  const from = Math.max(usedUntil.getTime(), now.getTime() - burstMs);
  const count = Math.max(0, Math.min(wanted, Math.ceil((now.getTime() - from) / eachMs)));
  return { count, usedUntil: new Date(Math.max(usedUntil.getTime(), from + count * eachMs)) };
}

/** The hours of a day in which messages are sent: `08:00` to `20:00`; over midnight if `to` is earlier. */
export interface Hours {
  from: string;
  to: string;
}

/** Whether messages are sent at a time. */
export function isWithinHours(hours: Hours | null, now: Date, timeZone: string): boolean {
  if (!hours) return true;
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone);
  const time = local.toPlainTime().toString({ smallestUnit: 'minute' });
  const { from, to } = hours;
  return from <= to ? from <= time && time < to : from <= time || time < to;
}

/** The states that a person can bring a campaign to, by its state. */
export const campaignMoves: Readonly<Record<CampaignState, readonly CampaignState[]>> = {
  DRAFT: ['RUNNING', 'CANCELLED'],
  RUNNING: ['PAUSED', 'CANCELLED'],
  PAUSED: ['RUNNING', 'CANCELLED'],
  DONE: [],
  CANCELLED: [],
};
