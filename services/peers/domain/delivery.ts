import type { JWK } from 'jose';
import type { Decision, SendingPeer, SubmissionVerdict } from '#lib/contracts/submissions.ts';

/** submit: a part goes to its owner. decide: the owner is told the decision. ask: a late decision is asked for. */
export type DeliveryKind = 'submit' | 'decide' | 'ask';

/** What names a delivery. */
export interface DeliveryName {
  kind: DeliveryKind;
  /** The peer's base URL. */
  url: string;
  sid: string;
}

/** What became of an attempt. */
export type Outcome =
  /** The peer has answered, with its signature. @param tell what transactions is to know of it. */
  | { kind: 'answered'; receipt: string; says: string; tell?: SubmissionVerdict }
  /** There is nothing to do (any more). */
  | { kind: 'done' }
  /** The peer is well, and has not decided yet. */
  | { kind: 'open' }
  /** Try again. @param own it is not the peer's fault. @param deadline until when, if it is known now. */
  | { kind: 'failed'; own: boolean; error: string; deadline?: string };

/** A delivery that this process attempts now. */
export interface Claim extends DeliveryName {
  lease: string;
  decision: Decision | null;
  /** In vain so far. */
  attempts: number;
  /** In vain to this peer since anything got through. */
  failures: number;
  /** Its time is over. */
  overdue: boolean;
  peer: SendingPeer;
  /** The peer's signing keys, as they are pinned now. */
  signing: { kid: string; jwk: JWK }[];
}
