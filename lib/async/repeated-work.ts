/** Work in the background that comes again and again, such as removing what is old. */
export interface RepeatedWork {
  start(): void;
  /** Does it now, after what is being done of it. */
  runOnce(): Promise<void>;
  /** Resolves when what is being done of it is over. */
  stop(): Promise<void>;
}

/**
 * Does work at intervals, never twice at the same time, and without keeping the process alive.
 * @param work long work looks now and then whether it is to end.
 * @param onError told what went wrong; the work comes again.
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
