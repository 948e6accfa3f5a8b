import { backoffMs } from '#lib/async/timing.ts';

/**
 * Returns the wait before the next attempt in milliseconds; undefined if there is no further attempt.
 * @param attempts made so far, 1 or more. @param random in [0, 1).
 */
export type Backoff = (attempts: number, random: number) => number | undefined;

/**
 * Waits from a list, one after each attempt. A random share of up to `jitter` is added to each, so that
 * deliveries that failed together are not retried together.
 */
export function listedBackoff({ waitsMs, jitter }: { waitsMs: readonly number[]; jitter: number }): Backoff {
  return (attempts, random) => {
    const wait = waitsMs[attempts - 1];
    return wait === undefined ? undefined : Math.round(wait * (1 + jitter * random));
  };
}

/**
 * Exponential back-off with full jitter, without end: a random wait between `minMs` and a bound that doubles
 * with each attempt up to `maxMs`.
 */
export function exponentialBackoff({ minMs, maxMs }: { minMs: number; maxMs: number }) {
  return (attempts: number, random: number): number => {
    const bound = backoffMs(attempts + 1, { minMs, maxMs });
    return Math.round(minMs + (bound - minMs) * random);
  };
}
