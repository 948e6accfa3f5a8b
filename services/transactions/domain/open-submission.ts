import type { PrivateKey } from '#lib/config/private-key.ts';
import type { SendingPeer, Submission } from '#lib/contracts/submissions.ts';
import { askedDigest } from '#lib/federation/asked-digest.ts';
import { openAnswers, type SealedContent } from '#lib/federation/sealed-answers.ts';

/** A peer's part as it came. */
export interface ReceivedSubmission {
  peer: SendingPeer;
  sid: string;
  /** SHA-256 of the request body, base64url. */
  digest: string;
  submission: Submission;
}

/**
 * Opens a peer's part. What everybody could read of it must be what is in it: the submission, who showed the form, what was asked, and in
 * which language. @returns undefined if it cannot be opened, or is something else.
 */
export function openSubmission(
  { peer, sid, submission }: ReceivedSubmission,
  { keys, now }: { keys: readonly PrivateKey[]; now: Date },
): SealedContent | undefined {
  const opened = openAnswers(submission.sealed, { keys, now });
  if (!opened.opened) return undefined;
  const { header, content } = opened;
  const ofThisPeer = header.leader === peer.url && submission.leader.location === peer.url;
  const fits = header.sid === sid && ofThisPeer && content.language === submission.language;
  return fits && isDigested(content, header.digest) ? content : undefined;
}

/** Text that is not well-formed has no canonical JSON. */
function isDigested({ info, elements }: SealedContent, digest: string): boolean {
  return (
    [info, ...elements].every((text) => text.isWellFormed()) && askedDigest({ info, elements }) === digest
  );
}
