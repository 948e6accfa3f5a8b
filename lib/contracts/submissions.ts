import type { DescribedElement, DescribedInformation } from '#lib/contracts/forms.ts';

/**
 * A part: the answers to the elements of one peer, encrypted for the peer (docs/federation.md, "Answers at
 * the leader").
 */
export interface SealedPart {
  /** Id of the part: 22 base58 characters, generated when it was encrypted. */
  sid: string;
  /** The peer's base URL. */
  location: string;
  /** Name of the peer, as shown to the subject. */
  name: string;
  /** A compact JWE, see lib/federation/sealed-answers.ts. */
  sealed: string;
  /** The information and elements shown, without answers. Their identifiers have the peer's host. */
  info: DescribedInformation;
  elements: Pick<DescribedElement, 'identifier' | 'content'>[];
}

/** Contact data in a sealed part, by which the owner can write to the subject. */
export type SubjectContact = { emailAddress?: string; phoneNumber?: string };

/** The body of PUT /federation/submissions/{sid}. Every request with the same `sid` has the same body. */
export interface Submission {
  /** The leader: base URL, and id of its transaction. */
  leader: { location: string; id: string };
  subject: string;
  /** The object of the context, if it has one. */
  object?: string;
  /** BCP 47 language in which the elements were shown. */
  language: string;
  /** How long the answers are valid; ISO 8601 duration. */
  validity: string;
  /** `hold`: not committed before the leader decides (`together`). */
  mode: 'commit' | 'hold';
  sealed: string;
}

/** Why an owner refuses a part. */
export type RefusalReason =
  /** The seal cannot be opened, has expired, or does not match the request. */
  | 'seal'
  /** An element does not exist, is not shared with this peer, or has been withdrawn. */
  | 'unknown-element'
  /** A newer MAJOR version is ACTIVE. */
  | 'stale'
  /** An answer is missing or not allowed. */
  | 'invalid'
  /** The same `sid` was used with other content. */
  | 'conflict'
  /** A decision arrived before the part. */
  | 'decided';

/** The owner's verdict on a part. */
export interface SubmissionVerdict {
  verdict: 'committed' | 'held' | 'rolledback' | 'refused';
  /** With `refused`. */
  reason?: RefusalReason;
  /** Id of the transaction at the owner; absent if there is none. */
  id?: string;
}

/** The leader's decision about held parts (`together`). */
export type Decision = 'commit' | 'rollback';

/** The sender of a part, as stored by the owner. */
export interface SendingPeer {
  /** Id at the owner, by which entries are shared. */
  id: string;
  url: string;
  name: string;
  /** Prefix of the names of its subjects. */
  subjectPrefix: string;
  /** Key or id of the email for its subjects; null or absent (earlier releases): none is sent. */
  notification?: string | null;
}
