import type { AnswerCheck } from '#lib/contracts/forms.ts';
import type { PageFault } from '#lib/contracts/pages.ts';
import type { Retry } from './form-page.ts';
import type { FilledForm } from './present-form.ts';

/**
 * What the form shows again after a submission that was not accepted: unchanged answers are kept under today's identifiers,
 * changed questions are marked and asked anew.
 */
export function retryAfter(
  check: Exclude<AnswerCheck, { outcome: 'valid' }>,
  answers: Record<string, string[]>,
  form: FilledForm,
): Retry {
  const stale = new Set(check.outcome === 'stale' ? check.stale.map(keyOf) : []);
  const givenByKey = new Map(Object.entries(answers).map(([name, values]) => [keyOf(name), values]));
  const values: Record<string, string[]> = {};
  const changed: string[] = [];
  for (const { entry, identifier } of form.elements) {
    const given = givenByKey.get(entry.key);
    if (stale.has(entry.key)) changed.push(identifier);
    else if (given) values[identifier] = given;
  }
  return { values, changed, faults: check.outcome === 'invalid' ? check.faults.map(toPageFault) : [] };
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
