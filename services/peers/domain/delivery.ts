import type { EventData } from '#lib/contracts/events.gen.ts';
import type { Decision, PeerSummary } from '#lib/contracts/parts.ts';
import type { DueRow } from '#lib/deliveries/delivery-kind.ts';
import type { PinnedKey } from './signatures.ts';

/**
 * submit: send a part. decide: send a decision. ask: ask the leader for a decision that has not arrived after
 * a minute. withdraw: tell the owner that a part was withdrawn. erase: tell the owner that the person of a
 * part was erased.
 */
export type PeerDeliveryKind = 'submit' | 'decide' | 'ask' | 'withdraw' | 'erase';

/** Delivery of an order to withdraw is attempted for this many hours after the withdrawal. */
export const orderHours = 30 * 24;

/** Primary key of a delivery. */
export interface DeliveryName {
  kind: PeerDeliveryKind;
  /** The peer's base URL. */
  url: string;
  sid: string;
}

/** A due delivery as the engine reads it. */
export interface PeerRow extends DeliveryName, DueRow {
  decision: Decision | null;
  deadline: Date;
  /** Whether the deadline has passed. */
  overdue: boolean;
  peer: PeerSummary;
  /** The peer's pinned signing keys. */
  signing: PinnedKey[];
  /** Of the work that queued it; null without tracing. */
  traceparent: string | null;
}

type Answer = EventData['io.accord.submission.answered.v1'];

/** A verdict as it is reported to transactions. */
export type Verdict = Omit<Answer, 'submission' | 'peer' | 'about'>;

/** What a verdict is about, by the kind of the delivery; `ask` reports none. */
export const verdictsAbout: Readonly<Record<PeerDeliveryKind, Answer['about']>> = {
  submit: 'part',
  decide: 'decision',
  ask: 'decision',
  withdraw: 'withdrawal',
  erase: 'erasure',
};

/** What is recorded of an attempt. */
export interface AttemptFacts {
  /** The acknowledgement, and the verdict or decision that it contains. */
  receipt?: { jws: string; verdict: string };
  /** The verdict to report: the owner's, or one of this instance if the owner was not asked. */
  verdict?: Verdict;
  /** Why the attempt is retried; absent if the leader has not decided yet. */
  error?: string;
}
