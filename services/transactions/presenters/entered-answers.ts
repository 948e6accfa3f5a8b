import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { FormFields } from '#lib/contracts/pages.ts';
import type { Retry } from './form-page.ts';
import type { FilledForm } from './present-form.ts';
import { keyOf, retryAfter } from './retry.ts';

const action: FormFields['action'] = 'accord-action';
const shown: FormFields['shown'] = 'accord-shown';

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
    if (name === action) fields.push(...values.slice(-1).map((value) => ({ name, value })));
    else if (name === shown)
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
  const names = [...Object.keys(answers), ...(answers[shown] ?? [])].filter((name) =>
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
