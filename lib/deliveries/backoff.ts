/**
 * Says how long to wait before the next attempt.
 * @param attempts made so far, 1 or more. @param random in [0, 1).
 * @returns milliseconds; undefined if there is no further attempt.
 */
export type Backoff = (attempts: number, random: number) => number | undefined;

/** One wait after each attempt, then none. Up to `jitter` of a wait is added, so that deliveries that failed together do not retry together. */
export function listedBackoff({ waitsMs, jitter }: { waitsMs: readonly number[]; jitter: number }): Backoff {
  return (attempts, random) => {
    const wait = waitsMs[attempts - 1];
    return wait === undefined ? undefined : Math.round(wait * (1 + jitter * random));
  };
}

/** Exponential back-off with full jitter: drawn between `minMs` and a bound that doubles with each attempt up to `maxMs`. It never ends. */
export function exponentialBackoff({ minMs, maxMs }: { minMs: number; maxMs: number }) {
  return (attempts: number, random: number): number => {
    const bound = Math.min(maxMs, minMs * 2 ** Math.min(attempts, 30));
    return Math.round(minMs + (bound - minMs) * random);
  };
}
