/** Looks for work again and again: ever more rarely while there is none, and at once when somebody says that there is some. */
export interface PollLoop {
  start(): void;
  /** Call when there is something to be done. */
  wake(): void;
  /** Begins no other look. Resolves when the last one is over. */
  stop(): Promise<void>;
}

/**
 * @param look does what there is to do, or begins it. Never rejects. @returns whether there was something.
 * @param lingerMs asked after each look: so long at least from its beginning to the next one, and what comes meanwhile is found together.
 */
export function createPollLoop({
  look,
  minMs = 50,
  maxMs = 500,
  lingerMs = () => 0,
}: {
  look: () => Promise<boolean>;
  minMs?: number;
  maxMs?: number;
  lingerMs?: () => number;
}): PollLoop {
  let stopped = true;
  let woken = false;
  let wakeUp = () => {};
  let running: Promise<void> | undefined;

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    let pauseMs = minMs;
    while (!stopped) {
      // Whoever wakes the loop from here on may have come too late for this look.
      woken = false;
      const began = performance.now();
      pauseMs = (await look()) ? minMs : Math.min(pauseMs * 2, maxMs);
      if (!stopped && !woken) await pause(pauseMs);
      const early = began + lingerMs() - performance.now();
      if (!stopped && early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    }
  }

  return {
    start() {
      stopped = false;
      running = run();
    },
    wake() {
      woken = true;
      wakeUp();
    },
    async stop() {
      stopped = true;
      wakeUp();
      await running;
    },
  };
}
