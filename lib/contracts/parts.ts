import type { DescribedElement, DescribedInformation } from '#lib/contracts/forms.ts';

/** A part at the leader, encrypted for its owner (docs/federation.md, "Answers at the leader"). */
export interface SealedPart {
  /** Id of the part: 22 base58 characters, generated when it was encrypted. */
  sid: string;
  /** The owner's base URL. */
  location: string;
  /** Name of the owner, as shown to the subject. */
  name: string;
  /** A compact JWE, see lib/federation/sealed-answers.ts. */
  sealed: string;
  /** The information and elements shown, without answers. Their identifiers have the owner's host. */
  info: DescribedInformation;
  elements: Pick<DescribedElement, 'identifier' | 'content'>[];
}

/** Contact data in a sealed part, by which the owner can write to the subject. */
export type SubjectContact = { emailAddress?: string; phoneNumber?: string };

/**
 * A part as its owner receives it: the body of PUT /federation/submissions/{sid}. For one `sid` it is always
 * the same.
 */
export interface PartRequest {
  /** The leader: base URL, and id of its transaction. */
  leader: { location: string; id: string };
  subject: string;
  /** The object of the context, if it has one. */
  object?: string;
  /** BCP 47 language in which the elements were shown. */
  language: string;
  /** How long the answers are valid; ISO 8601 duration. */
  validity: string;
  /** Whether the context has no `validity`: elements with one of their own keep it. */
  validityIsDefault?: boolean;
  /** `hold`: not committed before the leader decides (`together`). */
  mode: 'commit' | 'hold';
  sealed: string;
}

/** Why an owner refuses a part, or the erasure of one. */
export type RefusalReason =
  /** The seal cannot be opened, has expired, or does not match the request. */
  | 'seal'
  /**
   * An element does not exist, is not shared with this peer, or has been withdrawn; or the information is not
   * the default information.
   */
  | 'unknown-element'
  /** A newer MAJOR version is ACTIVE. */
  | 'stale'
  /**
   * An answer is missing or not allowed, the list of elements is malformed, or the subject, object, language,
   * validity or leader id is not valid.
   */
  | 'invalid'
  /** The same `sid` was used with another body. */
  | 'conflict'
  /** A decision, a withdrawal or an erasure arrived before the part. */
  | 'decided'
  /** Of an erasure: the owner keeps its part. */
  | 'kept';

/** A part that a peer sent. */
export interface ReceivedPart {
  peer: PeerSummary;
  sid: string;
  /** SHA-256 of the request's body, base64url. */
  digest: string;
  submission: PartRequest;
}

/**
 * The owner's verdict on a part, or on its withdrawal or erasure. `noted`: it has not decided about an
 * erasure, or not finished it.
 */
export interface OwnerVerdict {
  verdict: 'committed' | 'held' | 'rolledback' | 'refused' | 'withdrawn' | 'erased' | 'noted';
  /** With `refused`. */
  reason?: RefusalReason;
  /** Id of the transaction at the owner; absent if there is none. */
  id?: string;
}

/** The leader's decision about a held part. */
export type Decision = 'commit' | 'rollback';

/** What is needed of a peer to judge its parts. */
export interface PeerSummary {
  /** Id of the peer at this instance, which `sharedWith` names. */
  id: string;
  /** Base URL. */
  url: string;
  name: string;
  /** Prefix for the subjects that the peer names. */
  subjectPrefix: string;
  /**
   * Key or id of the `email` model of the notification; null: none. Only `acceptSubmission` reads
   * it; other calls may leave it out.
   */
  notification?: string | null;
}
