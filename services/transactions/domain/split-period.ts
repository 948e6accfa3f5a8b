/** A period of time: from `after` to before `before`. */
export interface Period {
  after: Date;
  before: Date;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Parts of at most so many days that make up a period, in their order. */
export function splitPeriod({ after, before }: Period, days: number): Period[] {
  const parts: Period[] = [];
  let from = after;
  while (from < before) {
    const until = new Date(Math.min(from.getTime() + days * dayMs, before.getTime()));
    parts.push({ after: from, before: until });
    from = until;
  }
  return parts;
}
