import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { SendingPeer, Submission } from '#lib/contracts/submissions.ts';
import { randomId } from '#lib/ids/random-id.ts';
import { isStorable } from '#lib/json/check-json.ts';
import type { ConsentContext } from './context.ts';
import { longestValidity, readDuration } from './duration.ts';
import type { NewTransaction } from './new-transaction.ts';
import { isFault, parseLanguage, parseText } from './parse-values.ts';

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
