import type { Meter } from './meter.ts';

/** An answer, as far as clients look at it. */
export interface Answered {
  status: number;
  body: { id?: string; token?: string; type?: string };
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
      const response = await fetch(`${baseUrl}${path}`, {
        redirect: 'manual',
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
