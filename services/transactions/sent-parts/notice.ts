import type { EventData } from '#lib/contracts/events.gen.ts';

/** What another side knows of a withdrawal or an erasure (docs/withdrawal.md and docs/erasure.md). */
export interface Notice {
  /** The organisation's name. */
  name: string;
  /** `RECIPIENT`: the organisation behind a webhook. `PEER`: the owner of parts. */
  kind: 'RECIPIENT' | 'PEER';
  /** Base URL of a peer. */
  location: string | null;
  state: NoticeState;
  /** What it has done, once ACKNOWLEDGED. `kept`: it keeps data, for example because a law requires it. */
  outcome: string | null;
  /** A text by the organisation, for operators. */
  note: string | null;
  /** When it entered the state. */
  since: Date;
}

/** `UNSUPPORTED`: a peer that cannot be told. */
export type NoticeState = 'QUEUED' | 'DELIVERED' | 'ACKNOWLEDGED' | 'OVERDUE' | 'FAILED' | 'UNSUPPORTED';

/** The states, most urgent first: a peer with several parts is shown with its most urgent one. */
export const urgency: readonly NoticeState[] = [
  'FAILED',
  'UNSUPPORTED',
  'OVERDUE',
  'QUEUED',
  'DELIVERED',
  'ACKNOWLEDGED',
];

/** A verdict on a part, or on the decision about it, its withdrawal or its erasure. */
export type ReportedVerdict = EventData['io.accord.submission.answered.v1'];

/** How far the notice to the owner of a part has come. */
export interface Progress extends Pick<Notice, 'state' | 'outcome' | 'since'> {
  createdAt: Date;
  /** When {@link whenDue} applies next; null: never again. */
  dueAt: Date | null;
}

const hourMs = 3_600_000;
/**
 * How many hours later an owner is asked again: without an acknowledgement (QUEUED, OVERDUE), in case an
 * event was lost; or if it has noted the request and has not finished (DELIVERED).
 */
export const askAgainHours = { QUEUED: 72, OVERDUE: 72, DELIVERED: 24 } as const;
const maxAskMs = 40 * 24 * hourMs;

const reportedStates = {
  done: 'ACKNOWLEDGED',
  refused: 'ACKNOWLEDGED',
  noted: 'DELIVERED',
  held: 'DELIVERED',
  expired: 'FAILED',
  unsupported: 'UNSUPPORTED',
} as const satisfies Record<ReportedVerdict['verdict'], NoticeState>;

/**
 * What a verdict on a withdrawal or an erasure does to its notice. An acknowledgement is final. A request
 * that the owner has noted does not become FAILED, nor does a request that became OVERDUE after 40 days.
 */
export function afterVerdict<Given extends Progress>(
  notice: Given,
  { about, verdict }: Pick<ReportedVerdict, 'about' | 'verdict'>,
  now: Date,
): Given {
  const state = reportedStates[verdict];
  const isNoted = notice.state === 'DELIVERED' || isOver(notice, notice.since);
  if (notice.state === 'ACKNOWLEDGED' || (state === 'FAILED' && isNoted)) return notice;
  const done = verdict === 'refused' ? 'kept' : 'done';
  const outcome = about === 'erasure' && state === 'ACKNOWLEDGED' ? done : null;
  if (notice.state === state) return { ...notice, outcome };
  const dueAt = state === 'DELIVERED' ? hoursAfter(now, askAgainHours.DELIVERED) : null;
  return { ...notice, state, outcome, since: now, dueAt };
}

/**
 * What becomes of a notice that is due. The owner is asked again unless {@link Progress.dueAt} is null
 * afterwards: for 40 days. A notice is OVERDUE if the owner has not acknowledged it by now, or has not
 * finished in 40 days.
 */
export function whenDue<Given extends Progress>(notice: Given, now: Date): Given {
  const isLast = isOver(notice, now);
  const state = notice.state === 'DELIVERED' && !isLast ? 'DELIVERED' : 'OVERDUE';
  const since = notice.state === state ? notice.since : now;
  return { ...notice, state, since, dueAt: isLast ? null : hoursAfter(now, askAgainHours[state]) };
}

function isOver({ createdAt }: Pick<Progress, 'createdAt'>, at: Date): boolean {
  return at.getTime() >= createdAt.getTime() + maxAskMs;
}

function hoursAfter(time: Date, hours: number): Date {
  return new Date(time.getTime() + hours * hourMs);
}
