import type { Decision, SendingPeer, Submission, SubmissionVerdict } from '#lib/contracts/submissions.ts';

/** A part that is ready to be sent to its owner. */
export interface ReleasedSubmission {
  /** The peer's base URL. */
  location: string;
  submission: Submission;
}

/** Internal operations of the transactions service. */
export interface TransactionsOperations {
  /**
   * Creates a transaction as POST /consents does for an operator.
   * @param input.author name of the caller. @returns the transaction's URL, with a token.
   * @throws Failure as POST /consents.
   */
  createTransaction(input: { context: Record<string, unknown>; author: string }): Promise<{ url: string }>;
  /**
   * At the leader: reads parts that are to be sent to peers. Returns as many as fit into one response, at
   * least the first; the caller requests the others again.
   * @param input.sids parts that are due at the same time, of all peers: at most 32 for each of 64 peers
   * (`limits` in services/peers/jobs/peer-deliveries.ts).
   * @returns parts by sid; null instead of a part that was answered, decided or dropped.
   */
  readSubmissions(input: { sids: string[] }): Promise<Record<string, ReleasedSubmission | null>>;
  /**
   * At the leader: reads the decision about a part that a peer holds. `open`: not decided yet. `rollback` for
   * a part of another peer.
   */
  readDecision(input: { sid: string; peer: string }): Promise<{ decision: Decision | 'open' }>;
  /**
   * At the owner: decrypts a part, checks its answers, and stores transaction, records and receipt in one
   * COMMIT. Idempotent by `sid`.
   * @param input.digest SHA-256 of the request body, base64url. @throws Failure `unavailable` only.
   */
  acceptSubmission(input: {
    peer: SendingPeer;
    sid: string;
    digest: string;
    submission: Submission;
  }): Promise<SubmissionVerdict>;
  /**
   * At the owner: commits a held part, or rolls it back. Idempotent. A part that never arrived is
   * `rolledback`.
   */
  decideSubmission(input: { peer: SendingPeer; sid: string; decision: Decision }): Promise<SubmissionVerdict>;
}
