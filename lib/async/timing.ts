/**
 * Waits for work to settle, at most `ms`. Never rejects: work that hangs must not keep a process from
 * stopping.
 */
export async function settleWithin(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  await within(ms, Promise.resolve(work)).catch(() => {});
}

/**
 * Resolves or rejects as `work` does. @throws Error if `work` takes longer than `ms`; it is not interrupted.
 */
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

export interface Throttle {
  run(): void;
  stop(): void;
}

/**
 * Runs work at once if its last start was at least `ms` ago, else once `ms` after that start. Runs never
 * overlap.
 * @param work never rejects.
 */
export function throttle(ms: number, work: () => Promise<void>): Throttle {
  let isWanted = false;
  let isRunning = false;
  let isStopped = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  async function start(): Promise<void> {
    timer = undefined;
    isWanted = false;
    isRunning = true;
    startedAt = performance.now();
    await work();
    isRunning = false;
    if (isWanted) schedule();
  }

  function schedule(): void {
    if (isRunning || isStopped || timer) return;
    const waitMs = startedAt + ms - performance.now();
    if (waitMs <= 0) return void start();
    timer = setTimeout(() => void start(), waitMs);
    timer.unref();
  }

  return {
    run() {
      isWanted = true;
      schedule();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
