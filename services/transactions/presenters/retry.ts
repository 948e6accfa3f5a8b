import type { AnswerCheck } from '#lib/contracts/forms.ts';
import type { FormFields, PageFault } from '#lib/contracts/pages.ts';
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
  const shown = new Set((answers[shownField] ?? []).map(keyOf));
  const decision = decisionForAll(answers);
  const values: Record<string, string[]> = {};
  const changed: string[] = [];
  for (const { entry, identifier, answers: offered } of form.elements) {
    // As the identifier has it, with the host of a peer: another owner may use the same key.
    const key = keyOf(identifier);
    const given = givenByKey.get(key);
    if (stale.has(key)) changed.push(identifier);
    else if (decision && entry.type !== 'preference')
      values[identifier] = offered?.includes(decision) ? [decision] : [];
    else if (given) values[identifier] = given;
    // Boxes that were all emptied are not sent; an earlier answer must not come back in their place.
    else if (shown.has(key)) values[identifier] = [];
  }
  return { values, changed, faults: check.outcome === 'invalid' ? check.faults.map(toPageFault) : [] };
}

/** What accept-all and refuse-all answer, undefined if neither was pressed. */
function decisionForAll(answers: Record<string, string[]>): 'accepted' | 'refused' | undefined {
  const pressed = answers[action]?.at(-1);
  if (pressed === 'accept-all') return 'accepted';
  return pressed === 'refuse-all' ? 'refused' : undefined;
}

/** `element/<type>/<key>/<serial>` → key; prefixes of later clients are passed over. */
function keyOf(identifier: string): string {
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
