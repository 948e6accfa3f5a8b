import { bulkAnswer } from '#lib/contracts/element-rules.ts';
import type { AnswerCheck, PinnedLayout } from '#lib/contracts/forms.ts';
import type { FormAction, FormFields, PageFault } from '#lib/contracts/pages.ts';
import type { FilledForm } from './form.ts';
import type { Retry } from './form-page.ts';

const actionField: FormFields['action'] = 'accord-action';
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
  const pressed = answers[actionField]?.at(-1);
  return pressed === 'accept-all' || pressed === 'refuse-all' ? pressed : 'submit';
}

/** @returns whether the page that sent these answers showed an element, in whichever version. */
export function shownIn(answers: Record<string, string[]>): (identifier: string) => boolean {
  const shown = new Set((answers[shownField] ?? []).map(keyOf));
  return (identifier) => shown.has(keyOf(identifier));
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

/** As many options as a preference can have. */
const maxValues = 50;

/**
 * What a form post answered, as fields that another form can carry along: one answer to each element of the layout, and which were shown.
 * All else that was sent is left out, so the page that carries them is no larger than the form that was filled in.
 */
export function enteredFields(
  body: Readonly<Record<string, unknown>>,
  layout: Pick<PinnedLayout, 'elements'>,
): { name: string; value: string }[] {
  const asked = new Set(layout.elements);
  const carried = new Set<string>();
  const fields: { name: string; value: string }[] = [];
  for (const [name, given] of Object.entries(body)) {
    const values = textsOf(given);
    if (name === actionField) fields.push(...values.slice(-1).map((value) => ({ name, value })));
    else if (name === shownField)
      fields.push(
        ...values
          .filter((value) => asked.has(keyOf(value)))
          .slice(0, asked.size)
          .map((value) => ({ name, value })),
      );
    else if (asked.has(keyOf(name)) && !carried.has(keyOf(name))) {
      carried.add(keyOf(name));
      fields.push(...values.slice(0, maxValues).map((value) => ({ name, value })));
    }
  }
  return fields;
}

/**
 * The form of a child with the answers that were entered in its parent, not yet checked: whoever sends them gets them judged as any others.
 * An element with another MAJOR version since then is marked as changed and asked anew.
 * @returns undefined if the body has no answer to the form.
 */
export function enteredAgain(body: Readonly<Record<string, unknown>>, form: FilledForm): Retry | undefined {
  const answers = Object.fromEntries(Object.entries(body).map(([name, given]) => [name, textsOf(given)]));
  const majors = new Map(form.elements.map(({ identifier }) => [keyOf(identifier), majorOf(identifier)]));
  const names = [...Object.keys(answers), ...(answers[shownField] ?? [])].filter((name) =>
    majors.has(keyOf(name)),
  );
  if (names.length === 0) return undefined;
  const stale = names.filter((name) => majors.get(keyOf(name)) !== majorOf(name));
  return { ...retryAfter({ outcome: 'stale', stale }, answers, form), kept: stale.length === 0 };
}

function textsOf(given: unknown): string[] {
  return [given].flat().filter((value) => typeof value === 'string');
}

/** `element/<type>/<key>/<major>.<minor>` → major. */
function majorOf(identifier: string): string | undefined {
  return /\/(\d+)\.\d+$/.exec(identifier)?.[1];
}
