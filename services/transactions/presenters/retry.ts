import { bulkAnswer } from '#lib/contracts/element-rules.ts';
import type { AnswerCheck } from '#lib/contracts/forms.ts';
import type { FormAction, FormFields, PageFault } from '#lib/contracts/pages.ts';
import type { Retry } from './form-page.ts';
import type { FilledForm } from './present-form.ts';

const action: FormFields['action'] = 'accord-action';
const shownField: FormFields['shown'] = 'accord-shown';

/**
 * What the form shows again after a submission that was not accepted: unchanged answers are kept under today's identifiers,
 * changed questions are marked and asked anew.
 * @param answers as the browser sent them: the pressed button and what was shown are among them.
 */
export function retryAfter(
  check: Exclude<AnswerCheck, { outcome: 'valid' }>,
  answers: Record<string, string[]>,
  form: FilledForm,
): Retry {
  const stale = new Set(check.outcome === 'stale' ? check.stale.map(keyOf) : []);
  const givenByKey = new Map(Object.entries(answers).map(([name, values]) => [keyOf(name), values]));
  const isShown = shownIn(answers);
  const pressed = pressedIn(answers);
  const values: Record<string, string[]> = {};
  const changed: string[] = [];
  for (const element of form.elements) {
    const { identifier } = element;
    // As the identifier has it, with the host of a peer: another owner may use the same key.
    const key = keyOf(identifier);
    const given = givenByKey.get(key);
    const forAll = bulkAnswer(element, pressed);
    if (stale.has(key)) changed.push(identifier);
    else if (forAll !== undefined) values[identifier] = [forAll];
    else if (given) values[identifier] = given;
    // Boxes that were all emptied are not sent; an earlier answer must not come back in their place.
    else if (isShown(identifier)) values[identifier] = [];
  }
  return { values, changed, faults: check.outcome === 'invalid' ? check.faults.map(toPageFault) : [] };
}

function pressedIn(answers: Record<string, string[]>): FormAction {
  const pressed = answers[action]?.at(-1);
  return pressed === 'accept-all' || pressed === 'refuse-all' ? pressed : 'submit';
}

/** @returns whether the page that sent these answers showed an element, in whichever version. */
export function shownIn(answers: Record<string, string[]>): (identifier: string) => boolean {
  const shown = new Set((answers[shownField] ?? []).map(keyOf));
  return (identifier) => shown.has(keyOf(identifier));
}

/** `element/<type>/<key>/<serial>` → key; prefixes of later clients are passed over. */
export function keyOf(identifier: string): string {
  return /element\/[^/]+\/([^/]+)\/[^/]+$/.exec(identifier)?.[1] ?? identifier;
}

function toPageFault({
  pointer,
  code,
  detail,
}: {
  pointer: string;
  code: string;
  detail: string;
}): PageFault {
  const identifier = (pointer.split('/')[1] ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
  return { identifier, code, detail };
}
