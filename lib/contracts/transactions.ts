import type { Decision, OwnerVerdict, PartRequest, PeerSummary, ReceivedPart } from '#lib/contracts/parts.ts';

/** A part that is to be sent to its owner. */
export interface ReleasedPart {
  /** The owner's base URL. */
  location: string;
  submission: PartRequest;
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
   * At the leader: reads parts that are to be sent to their owners. Returns as many as fit into one response,
   * at least the first; the caller requests the others again.
   * @param input.sids parts that are due at the same time, of all peers: at most 32 for each of 64 peers
   * (`limits` in services/peers/jobs/peer-deliveries.ts).
   * @returns parts by sid; null for a sid that is unknown or not SENDING.
   */
  readSubmissions(input: { sids: string[] }): Promise<Record<string, ReleasedPart | null>>;
  /**
   * At the leader: reads the stored decision about a held part. `open`: none is stored yet, even past the
   * deadline. `rollback` also if the part is unknown, belongs to another peer, was refused or dropped, or was
   * withdrawn before the transaction was committed; if its person was erased; and if it was withdrawn later
   * and the order to withdraw it is no longer sent.
   * @param input.peer base URL of the owner that asks.
   */
  readDecision(input: { sid: string; peer: string }): Promise<{ decision: Decision | 'open' }>;
  /**
   * At the owner: decrypts a part, checks its answers, and stores transaction, records and receipt (a draft
   * of the receipt if held) in one COMMIT. Idempotent by peer, `sid` and body.
   * @throws Failure `unavailable` only.
   */
  acceptSubmission(input: ReceivedPart): Promise<OwnerVerdict>;
  /**
   * At the owner: applies the leader's decision to a held part. The first decision stands. The verdict on a
   * part that has not arrived is `rolledback`.
   */
  decideSubmission(input: { peer: PeerSummary; sid: string; decision: Decision }): Promise<OwnerVerdict>;
  /**
   * At the owner: withdraws the consents to the questions of a part, where the newest answer is that of the
   * part, or of another part of the same leader that was given before `withdrawn` or answers a notice. A held
   * part is rolled back, and a part that has not arrived will be refused. Idempotent.
   * @param input.withdrawn when the person withdrew (RFC 3339); absent: only this part counts.
   * @throws Failure `unavailable`.
   */
  withdrawSubmission(input: {
    peer: PeerSummary;
    sid: string;
    withdrawn?: string | undefined;
  }): Promise<OwnerVerdict>;
  /**
   * At the owner: the leader has erased the person of a part. Idempotent. @param input.follows whether an
   * erasure starts at once; else an administrator decides. @throws Failure `unavailable`.
   */
  eraseSubmission(input: { peer: PeerSummary; sid: string; follows: boolean }): Promise<OwnerVerdict>;
}
