import { addDuration, readDuration } from './duration.ts';

/** How long an answer holds if neither its element nor the context says it; ISO 8601 duration. */
export const usualValidity = 'P6M';

/** A question as it was asked. */
export interface AskedQuestion {
  /** `element/<type>/<key>/<serial>` */
  identifier: string;
  /** The content of the element, or its texts on a receipt. */
  texts: object;
}

/**
 * How long the answer to a question holds that is given at `at`: as long as the element says, else the
 * context, else {@link usualValidity}. A context shortens what an element says, and never lengthens it.
 * @param given the `validity` of the context; undefined: it says nothing.
 * @returns an ISO 8601 duration; null: the answer never expires, as for conditions.
 */
export function validityOf(
  { identifier, texts }: AskedQuestion,
  given: string | undefined,
  at: Date,
): string | null {
  if (identifier.startsWith('element/conditions/')) return null;
  const { validity: own } = texts as { validity?: string };
  if (own === undefined || given === undefined) return own ?? given ?? usualValidity;
  // Which of P1M and P30D is shorter depends on the day.
  return addDuration(at, given) < addDuration(at, own) ? given : own;
}

/** When the answer expires; null: never. @param asked as for {@link validityOf}. */
export function expiryOf(asked: AskedQuestion, given: string | undefined, at: Date): Date | null {
  const validity = validityOf(asked, given, at);
  return validity === null ? null : addDuration(at, validity);
}

/**
 * Whether an element lets answers hold longer than before.
 * @param before undefined: as long as the form says.
 */
export function isLengthened(before: string | undefined, after: string | undefined): boolean {
  return 'fault' in readDuration(after ?? usualValidity, before ?? usualValidity);
}

/** The longest validity of answers that are given together; null: one of them never expires. */
export function longestValidityOf(
  asked: readonly AskedQuestion[],
  given: string | undefined,
  at: Date,
): string | null {
  const each = asked.map((question) => validityOf(question, given, at));
  if (each.includes(null)) return null;
  const known = each.filter((validity) => validity !== null);
  return known.reduce(
    (longest, validity) => (addDuration(at, validity) > addDuration(at, longest) ? validity : longest),
    known[0] ?? usualValidity,
  );
}

/** The last of some expiries; null if none of the answers expires. */
export function latestExpiry(expiries: readonly (Date | null)[]): Date | null {
  return expiries.reduce((last, each) => (each && (!last || each > last) ? each : last), null);
}
