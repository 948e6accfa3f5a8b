const shortestMs = 500;
const longestMs = 60_000;

/**
 * How long to leave a peer alone after attempts in vain, in milliseconds: drawn from a range that doubles (full jitter), so that what failed
 * together does not come again together.
 * @param failures in a row, 1 or more. @param random in [0, 1).
 */
export function waitAfter(failures: number, random: number): number {
  const most = Math.min(longestMs, shortestMs * 2 ** Math.min(failures, 10));
  return Math.round(shortestMs + (most - shortestMs) * random);
}

const firstAskMs = 60_000;
const longestAskMs = 15 * 60_000;

/** How long to wait before a decision is asked for again that was still open. @param times asked so far, 1 or more. */
export function waitForDecision(times: number, random: number): number {
  const most = Math.min(longestAskMs, firstAskMs * 2 ** Math.min(times, 10));
  return Math.round(firstAskMs + (most - firstAskMs) * random);
}
