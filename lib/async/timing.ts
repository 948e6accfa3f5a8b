/** Waits for work to settle, at most `ms`. Never rejects: work that hangs must not keep a process from stopping. */
export async function settleWithin(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  await within(ms, Promise.resolve(work)).catch(() => {});
}

/** Resolves or rejects as `work` does. @throws Error if `work` takes longer than `ms`; it is not interrupted. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms.`)), ms);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}

/**
 * Exponential back-off without jitter.
 * @param failures in a row, 1 or more. @returns milliseconds: `minMs` at first, doubled up to `maxMs`.
 */
export function backoffMs(failures: number, { minMs, maxMs }: { minMs: number; maxMs: number }): number {
  return Math.min(maxMs, minMs * 2 ** Math.min(failures - 1, 30));
}
