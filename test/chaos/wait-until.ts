import { setTimeout as wait } from 'node:timers/promises';

/**
 * Asks again and again until the answer is neither undefined nor false. A rejection is such an answer too.
 * @throws Error with what was waited for, and why the last try failed.
 */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = 60_000, everyMs = 20 } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    let cause: unknown;
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      cause = error;
    }
    if (Date.now() > deadline) throw new Error(`In vain for ${timeoutMs / 1000} s: ${what}`, { cause });
    await wait(everyMs);
  }
}
