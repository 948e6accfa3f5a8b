import { backoffMs } from '#lib/async/timing.ts';

/** Polls for work: less often while there is none, and at once when woken. */
export interface PollLoop {
  start(): void;
  /** Polls at once, because there is work. */
  wake(): void;
  /** Starts no further poll. Resolves when the current one has ended. */
  stop(): Promise<void>;
}

/**
 * @param look does the work, or starts it, and returns whether there was any. Must not reject. `wasWoken` is
 * true if `wake` caused the poll, and false if the timer did: then there is rarely any work.
 * @param lingerMs read after each poll: the minimum time from its start to the next poll, so that work
 * arriving meanwhile is done together.
 */
export function createPollLoop({
  look,
  minMs = 50,
  maxMs = 500,
  lingerMs = () => 0,
}: {
  look: (wasWoken: boolean) => Promise<boolean>;
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
    let idlePolls = 0;
    while (!stopped) {
      const wasWoken = woken;
      // A wake-up from here on may concern work that this poll does not see.
      woken = false;
      const began = performance.now();
      idlePolls = (await look(wasWoken)) ? 0 : idlePolls + 1;
      if (!stopped && !woken) await pause(backoffMs(idlePolls + 1, { minMs, maxMs }));
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
