import { setTimeout as wait } from 'node:timers/promises';

/**
 * Asks again and again until the answer is neither undefined nor false. A rejection is such an answer too.
 * @param progress something that changes while there is hope: with each change the time begins anew.
 * @throws Error with what was waited for, and why the last try failed.
 */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  {
    timeoutMs = 60_000,
    everyMs = 20,
    progress = () => 0,
  }: { timeoutMs?: number; everyMs?: number; progress?: () => number } = {},
): Promise<T> {
  let deadline = Date.now() + timeoutMs;
  let reached = progress();
  for (;;) {
    let cause: unknown;
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      cause = error;
    }
    if (progress() !== reached) deadline = Date.now() + timeoutMs;
    reached = progress();
    if (Date.now() > deadline) throw new Error(`In vain for ${timeoutMs / 1000} s: ${what}`, { cause });
    await wait(everyMs);
  }
}
