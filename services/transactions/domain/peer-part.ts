import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { SendingPeer, Submission } from '#lib/contracts/submissions.ts';
import { askedDigest, openAnswers, type SealedContent } from '#lib/federation/sealed-answers.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { isStorable } from '#lib/json/check-json.ts';
import type { ConsentContext } from './context.ts';
import type { NewTransaction } from './transaction.ts';
import { isFault, longestValidity, parseLanguage, parseText, readDuration } from './values.ts';

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

/**
 * The transaction of a part that a peer sent: its form was shown there, its answers are ours. The rules for what a context says hold for
 * what the peer says too. @param asked keys. @returns undefined if one of them is broken.
 */
export function peerTransaction(
  { peer, submission }: { peer: SendingPeer; submission: Submission },
  asked: { info: string; elements: string[] },
): NewTransaction | undefined {
  const { leader } = submission;
  const subject = readText(submission.subject, 1024, peer.subjectPrefix);
  const object = submission.object ? readText(submission.object, 255) : '';
  const language = parseLanguage({ value: submission.language, pointer: '' });
  const id = readText(leader.id, 64);
  if (subject === undefined || object === undefined || id === undefined || isFault(language))
    return undefined;
  const validity = readDuration(submission.validity, longestValidity);
  if ('fault' in validity) return undefined;
  const context: ConsentContext = {
    ...{ subject, language, validity: validity.text, origin: 'PEER', confirmation: 'NONE', timeout: 'P7D' },
    ...(object && { object }),
    layoutData: { type: 'layout', ...asked },
    ...{ updatable: true, cancellable: false, silent: false, sendInvitation: false },
    ...{ callbackTriggerDelay: 4000, peerCommit: 'independent' },
  };
  return {
    id: randomId(),
    context,
    layout: { ...plainLayout, ...asked },
    author: peer.name,
    parent: null,
    leader: { location: leader.location, id },
  };
}

/** How its questions are shown to who changes an answer here: with the defaults of docs/interface.md, "The consent context". */
const plainLayout: Omit<PinnedLayout, 'info' | 'elements'> = {
  orientation: 'VERTICAL',
  existingElementsVisible: true,
  validityVisible: true,
  acceptAllVisible: false,
  cancelVisible: false,
  footerOnTop: false,
  includeIFrameResizer: true,
  texts: {},
};

/** Undefined if it cannot be stored, is empty or too long. */
function readText(text: string, most: number, prefix = ''): string | undefined {
  const own = parseText({ value: text, pointer: '' }, most);
  if (isFault(own)) return undefined;
  const whole = parseText({ value: `${prefix}${own}`, pointer: '' }, most);
  if (isFault(whole) || !isStorable(whole)) return undefined;
  // A combining mark at the beginning would become part of the prefix's last letter.
  return whole.startsWith(prefix.trimStart()) ? whole : undefined;
}
