import type { JWK } from 'jose';
import type { Decision, SendingPeer, SubmissionVerdict } from '#lib/contracts/submissions.ts';
import type { DueRow } from '#lib/deliveries/delivery-kind.ts';

/** submit: a part goes to its owner. decide: the owner is told the decision. ask: a late decision is asked for. */
export type DeliveryKind = 'submit' | 'decide' | 'ask';

/** What names a delivery. */
export interface DeliveryName {
  kind: DeliveryKind;
  /** The peer's base URL. */
  url: string;
  sid: string;
}

/** Result of an attempt, before the engine decides when the next one is made. */
export type Outcome =
  /** The peer has answered, with its signature. @param tell what transactions learns of it. */
  | { kind: 'answered'; receipt: string; says: string; tell?: SubmissionVerdict }
  /** There is nothing to send any more. */
  | { kind: 'done' }
  /** The peer works and has not decided yet. */
  | { kind: 'open' }
  /** Try again. @param own the failure is ours. @param deadline of the delivery, if it is known now. */
  | { kind: 'failed'; own: boolean; error: string; deadline?: string };

/** A delivery that this process attempts now. */
export interface PeerRow extends DeliveryName, DueRow {
  decision: Decision | null;
  /** Its deadline has passed. */
  overdue: boolean;
  peer: SendingPeer;
  /** The peer's signing keys as they are pinned now. */
  signing: { kid: string; jwk: JWK }[];
}
