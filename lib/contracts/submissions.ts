import type { DescribedElement, DescribedInformation } from '#lib/contracts/forms.ts';

/** A peer's part of what a subject answered: only the peer can read the answers in it (federation.md, "Answers"). */
export interface SealedPart {
  /** The submission: 22 characters of base58, drawn when the part was sealed. */
  sid: string;
  /** The peer's base URL. */
  location: string;
  /** The peer's name, as the subject saw it. */
  name: string;
  /** A compact JWE, see lib/federation/sealed-answers.ts. */
  sealed: string;
  /** What was asked, as it was shown, without any answer. Identifiers have the peer's host. */
  info: DescribedInformation;
  elements: Pick<DescribedElement, 'identifier' | 'content'>[];
}

/** What a peer is sent: the body of PUT /federation/submissions/{sid}. It never changes for a `sid`. */
export interface Submission {
  /** Where the form was shown: base URL, and the transaction there. */
  leader: { location: string; id: string };
  subject: string;
  /** What it is about, if the context names it. */
  object?: string;
  /** In which the elements were shown. */
  language: string;
  /** How long the subject was told that answers hold: an ISO 8601 duration. */
  validity: string;
  /** `hold`: not in force before the leader has decided (`together`). */
  mode: 'commit' | 'hold';
  sealed: string;
}

/** Why an owner does not take a part. */
export type RefusalReason =
  /** It cannot be opened: not sealed to a key of the owner's, not authentic, too old, or not what the submission says it is. */
  | 'seal'
  /** An element that does not exist, is not shared with this peer, or was withdrawn. */
  | 'unknown-element'
  /** A newer MAJOR version is ACTIVE. */
  | 'stale'
  /** An answer is missing, or is none of those that are possible. */
  | 'invalid'
  /** The same `sid` came before with other content. */
  | 'conflict'
  /** The leader has decided, or its time to decide is over. */
  | 'decided';

/** What became of a part at its owner. */
export interface SubmissionVerdict {
  verdict: 'committed' | 'held' | 'rolledback' | 'refused';
  /** With `refused`. */
  reason?: RefusalReason;
  /** The transaction at the owner; absent if there is none. */
  id?: string;
}

/** A decision over parts that are held (`together`). */
export type Decision = 'commit' | 'rollback';

/** Who sends a part, as the owner knows it. */
export interface SendingPeer {
  /** Its id at the owner: entries are shared by it. */
  id: string;
  url: string;
  name: string;
  /** Put before the names of its subjects. */
  subjectPrefix: string;
}
