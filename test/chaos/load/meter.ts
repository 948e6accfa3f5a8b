/** One attempt to get an answer. */
export interface Attempt {
  /** What was asked for: `form`, `submit`, … */
  what: string;
  /** When it was sent, and for how long it took, in ms. */
  at: number;
  ms: number;
  /** Why it failed: no reply, or 503. */
  failed?: string;
}

/** How many requests of a time were answered. */
export interface Availability {
  sent: number;
  failed: number;
  /** What failed, and how often, for people. */
  reasons: Record<string, number>;
}

/** Counts attempts, so that one can tell how available something was while something else was broken. */
export interface Meter {
  add(attempt: Attempt): void;
  /** How many attempts were answered until now. */
  answered(): number;
  /** Of attempts under way at any time from `from` until `to`, both as of Date.now(). @param kinds all if absent. */
  between(from: number, to: number, kinds?: readonly string[]): Availability;
}

export function createMeter(): Meter {
  const attempts: Attempt[] = [];
  let answered = 0;
  return {
    add(attempt) {
      attempts.push(attempt);
      if (!attempt.failed) answered += 1;
    },
    answered: () => answered,
    between(from, to, kinds) {
      const of = attempts.filter(
        ({ at, ms, what }) => at + ms >= from && at <= to && (kinds?.includes(what) ?? true),
      );
      const reasons: Record<string, number> = {};
      for (const { what, failed } of of)
        if (failed) reasons[`${what}: ${failed}`] = (reasons[`${what}: ${failed}`] ?? 0) + 1;
      return { sent: of.length, failed: of.filter(({ failed }) => failed).length, reasons };
    },
  };
}
