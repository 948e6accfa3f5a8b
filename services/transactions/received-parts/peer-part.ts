import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { ReceivedPart, SubjectContact } from '#lib/contracts/parts.ts';
import { askedDigest, openAnswers, type SealedContent } from '#lib/federation/sealed-answers.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { isStorable } from '#lib/json/check-json.ts';
import { longestValidity, readDuration } from '#lib/text/duration.ts';
import { canStandInPath } from '#lib/text/host-name.ts';
import { readContact } from '../transaction/contact.ts';
import { contextDefaults } from '../transaction/context.ts';
import type { NewTransaction } from '../transaction/transaction.ts';
import { isFault, parseLanguage, parseText } from '../transaction/values.ts';

/**
 * Opens a part and compares it with its request: id, leader and language. The digest in its header must be
 * that of its information and elements (docs/federation.md, "Answers at their owner").
 * @returns its content, and when the subject gave the answers; undefined if it cannot be opened or does not
 * match.
 */
export function decryptReceivedPart(
  { peer, sid, submission }: ReceivedPart,
  { keys, now }: { keys: readonly PrivateKey[]; now: Date },
): { content: SealedContent; givenAt: Date } | undefined {
  const opened = openAnswers(submission.sealed, { keys, now });
  if (!opened.opened) return undefined;
  const { header, content } = opened;
  const isFromPeer = header.leader === peer.url && submission.leader.location === peer.url;
  const matches = header.sid === sid && isFromPeer && content.language === submission.language;
  if (!matches || !hasDigest(content, header.digest)) return undefined;
  const { iat } = header;
  return { content, givenAt: iat === undefined ? now : timeAtLeader(iat * 1000, now) };
}

/**
 * A time that a leader states, limited to the 121 days before the arrival and to half a minute after it,
 * because the clock of the leader may be ahead.
 * @param stated milliseconds since 1970; NaN: the arrival.
 */
export function timeAtLeader(stated: number, now: Date): Date {
  const arrival = now.getTime();
  if (Number.isNaN(stated)) return now;
  return new Date(Math.min(arrival + aheadMs, Math.max(arrival - longestWayMs, stated)));
}

/** How far a leader's clock may be ahead. Signed requests have the same tolerance (docs/federation.md). */
const aheadMs = 30_000;

/** The wait for a code (`timeout` of a context), 30 days of delivery, and a day. */
const longestWayMs = (90 + 30 + 1) * 24 * 60 * 60 * 1000;

/** Whether the content has the digest. Ill-formed text has none, because it has no canonical JSON. */
function hasDigest({ info, elements }: SealedContent, digest: string): boolean {
  return (
    [info, ...elements].every((text) => text.isWellFormed()) && askedDigest({ info, elements }) === digest
  );
}

/**
 * Composes the transaction of a part that a peer sent; its values must follow the rules of a context. Contact
 * data that are not valid are left out: they are no reason to refuse answers.
 * @param asked keys of our information and elements. @param given contact data in the sealed part.
 * @returns undefined if a value is not valid.
 */
export function peerTransaction(
  { peer, submission }: Pick<ReceivedPart, 'peer' | 'submission'>,
  asked: { info: string; elements: string[] },
  given?: SubjectContact,
): NewTransaction | undefined {
  const { leader } = submission;
  const subject = readText(submission.subject, 1024, peer.subjectPrefix);
  const object = submission.object ? readText(submission.object, 255) : '';
  const language = parseLanguage({ value: submission.language, pointer: '' });
  const id = readText(leader.id, 64);
  if (
    subject === undefined ||
    !canStandInPath(subject) ||
    object === undefined ||
    id === undefined ||
    isFault(language)
  )
    return undefined;
  const validity = readDuration(submission.validity, longestValidity);
  if ('fault' in validity) return undefined;
  const subjectInfos = readContact(given);
  return {
    id: randomId(),
    context: {
      ...contextDefaults,
      subject,
      language,
      ...(submission.validityIsDefault !== true && { validity: validity.text }),
      origin: 'PEER',
      ...(object && { object }),
      ...(subjectInfos && { subjectInfos }),
      layoutData: { type: 'layout', ...asked },
    },
    layout: { ...defaultLayout, ...asked, ...(peer.notification && { notification: peer.notification }) },
    author: peer.name,
    createdBy: `peer:${peer.id}`,
    parent: null,
    leader: { location: leader.location, id },
  };
}

/**
 * Layout options of a part's transaction; its child, in which the subject changes the answers here, inherits
 * them.
 */
const defaultLayout: Omit<PinnedLayout, 'info' | 'elements'> = {
  orientation: 'VERTICAL',
  existingElementsVisible: true,
  validityVisible: true,
  acceptAllVisible: false,
  cancelVisible: false,
  footerOnTop: false,
  includeIFrameResizer: true,
  texts: {},
};

/** @returns undefined for a text that cannot be stored, is empty or too long. */
function readText(text: string, max: number, prefix = ''): string | undefined {
  const own = parseText({ value: text, pointer: '' }, max);
  if (isFault(own)) return undefined;
  const prefixed = parseText({ value: `${prefix}${own}`, pointer: '' }, max);
  if (isFault(prefixed) || !isStorable(prefixed)) return undefined;
  // A combining mark at the start would merge with the last letter of the prefix.
  return prefixed.startsWith(prefix.trimStart()) ? prefixed : undefined;
}
