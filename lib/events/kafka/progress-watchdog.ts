/** Notices a client that has fallen asleep. */
export interface ProgressWatchdog {
  /** Something has happened. */
  note(): void;
  stop(): void;
}

/**
 * Calls `onStandstill` once nothing has been noted for `ms`. A consumer whose loop has ended without an error would else be taken for one
 * that has nothing to do (reliability.md, "Progress watchdog").
 */
export function createProgressWatchdog(ms: number, onStandstill: () => void): ProgressWatchdog {
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    // A process that was itself stopped for a while has to get a chance to go on.
    const slept = now - checked > 2 * checkMs;
    checked = now;
    if (slept) last = now;
    if (now - last > ms) {
      clearInterval(timer);
      onStandstill();
    }
  }, checkMs);
  let checked = last;
  timer.unref();
  return {
    note() {
      last = performance.now();
    },
    stop: () => clearInterval(timer),
  };
}

const checkMs = 1_000;
