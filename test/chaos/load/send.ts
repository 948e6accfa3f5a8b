import { lightFetch } from '../../support/network/light-fetch.ts';
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
  /**
   * Of attempts under way at any time from `from` until `to`, both as of Date.now(). @param kinds all if
   * absent.
   */
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

/** An answer, as far as clients look at it. */
export interface Answered {
  status: number;
  body: { id?: string; token?: string; type?: string; code?: string };
}

/** What somebody asks for. */
export interface Question {
  /** For the meter. */
  what: string;
  path: string;
  init: RequestInit;
}

/** Statuses that promise nothing: of ours when something is away, and of a router that found no replica. */
const withoutOutcome = new Set([502, 503, 504]);
const patienceMs = 10_000;

/** Sends a request once. @returns undefined if nothing is known of what became of it. */
export type Send = (question: Question) => Promise<Answered | undefined>;

export function createSend({ baseUrl, meter }: { baseUrl: string; meter: Meter }): Send {
  return async ({ what, path, init }) => {
    const at = Date.now();
    const told = (failed?: string) => meter.add({ what, at, ms: Date.now() - at, ...(failed && { failed }) });
    try {
      const response = await lightFetch(new URL(path, baseUrl), {
        signal: AbortSignal.timeout(patienceMs),
        ...init,
      });
      const text = await response.text();
      if (withoutOutcome.has(response.status)) {
        told(String(response.status));
        return undefined;
      }
      told();
      return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : {} };
    } catch (error) {
      told(reasonOf(error));
      return undefined;
    }
  };
}

function reasonOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? name;
}
