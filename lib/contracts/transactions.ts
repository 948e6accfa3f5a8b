import type { Decision, SendingPeer, Submission, SubmissionVerdict } from '#lib/contracts/submissions.ts';

/** A part that may be sent to its owner. */
export interface ReleasedSubmission {
  /** The peer's base URL. */
  location: string;
  /** RFC 3339, until when it is tried. */
  deadline: string;
  submission: Submission;
}

/** Internal operations of the transactions service. */
export interface TransactionsOperations {
  /**
   * Creates a transaction as POST /consents does for an operator.
   * @param input.author who asks. @returns the transaction's URL, which opens with a token.
   * @throws Failure of a creation.
   */
  createTransaction(input: { context: Record<string, unknown>; author: string }): Promise<{ url: string }>;
  /**
   * At the leader: what is to be sent to peers, as much of it as one answer may hold, and the first in any case: who misses one asks again.
   * @param input.sids at most 200. @returns by sid; null: there is nothing to send (any more), because it was answered, decided or dropped.
   */
  readSubmissions(input: { sids: string[] }): Promise<Record<string, ReleasedSubmission | null>>;
  /** At the leader: what was decided over a part that a peer holds. `open`: nothing yet. A part that is not this peer's: `rollback`. */
  readDecision(input: { sid: string; peer: string }): Promise<{ decision: Decision | 'open' }>;
  /**
   * At the owner: opens the seal, checks the answers by its own rules, and stores transaction, records and receipt in one COMMIT. The same
   * `sid` again is the same verdict. @param input.digest SHA-256 of the request body, base64url. @throws Failure `unavailable` only.
   */
  acceptSubmission(input: {
    peer: SendingPeer;
    sid: string;
    digest: string;
    submission: Submission;
  }): Promise<SubmissionVerdict>;
  /** At the owner: puts a held part in force, or rolls it back. The same decision again is the same verdict; a part that never came is `rolledback`. */
  decideSubmission(input: { peer: SendingPeer; sid: string; decision: Decision }): Promise<SubmissionVerdict>;
}
