const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The waits after each attempt in vain (decisions.md §15, "Webhooks"): nine attempts within a day. */
const waits = [5 * second, 30 * second, 2 * minute, 10 * minute, 1 * hour, 3 * hour, 6 * hour, 12 * hour];

/** Up to so much of a wait is added, so that what failed together does not come again together. */
const jitter = 0.1;

/** An endpoint that has accepted nothing for so long is paused when it fails again: no more than all waits together. */
export const pauseAfterHours = 22;

/**
 * How long to wait before the next attempt, in milliseconds; undefined if there is none.
 * @param attempts made so far, 1 or more. @param random in [0, 1).
 */
export function waitAfter(attempts: number, random: number): number | undefined {
  const wait = waits[attempts - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 + jitter * random));
}
