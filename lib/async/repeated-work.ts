/** Periodic background work, such as removing old rows. */
export interface RepeatedWork {
  start(): void;
  /** Runs the work at once, or when the current run has ended. Resolves when it is done. */
  runOnce(): Promise<void>;
  /** Resolves when the current run has ended. */
  stop(): Promise<void>;
}

/**
 * Runs work at intervals, never concurrently, and without keeping the process alive.
 * @param work long work polls `isStopped`.
 * @param onError is called with the error of a run; later runs are not affected.
 */
export function createRepeatedWork({
  everyMs,
  work,
  onError,
}: {
  everyMs: number;
  work: (isStopped: () => boolean) => Promise<unknown>;
  onError: (error: unknown) => void;
}): RepeatedWork {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let wanted = 0;
  let running: Promise<void> = Promise.resolve();

  async function run(): Promise<void> {
    try {
      await work(() => stopped);
    } catch (error) {
      onError(error);
    }
    wanted -= 1;
  }

  function runOnce(): Promise<void> {
    wanted += 1;
    running = running.then(run);
    return running;
  }

  return {
    start() {
      timer = setInterval(() => {
        if (wanted === 0) void runOnce();
      }, everyMs);
      timer.unref();
    },
    runOnce,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
