import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { modelTypes } from '#lib/evidence/signed-page.ts';

/** What a step of a plan does to a model. */
export type StepChange = 'CREATED' | 'CHANGED' | 'UNCHANGED' | 'ARCHIVED';

interface Step {
  key: string;
  type: string;
  change: StepChange;
  digest: string;
}

/** What forms name comes before them. */
const order: readonly string[] = modelTypes;

/** Steps in the order in which they are applied: what is archived comes last, and layouts first of that. */
export function inApplyOrder<S extends Omit<Step, 'digest'>>(steps: readonly S[]): S[] {
  const rank = ({ change, type }: S) =>
    change === 'ARCHIVED' ? 2 * order.length - order.indexOf(type) : order.indexOf(type);
  return steps.toSorted(
    (one, other) => rank(one) - rank(other) || (one.key < other.key ? -1 : Number(one.key > other.key)),
  );
}

/** The digest of a plan: of all that its steps would do, whatever else is the same as before. */
export function planDigest(steps: readonly Step[]): string {
  const changing = steps.filter(({ change }) => change !== 'UNCHANGED');
  return digestOf(changing.map(({ key, digest }) => `${key} ${digest}`).toSorted());
}

/** SHA-256 of a JSON value in canonical form (RFC 8785), in hexadecimal. */
export function digestOf(value: unknown): string {
  return createHash('sha256')
    .update(canonicalize(value) ?? '')
    .digest('hex');
}
