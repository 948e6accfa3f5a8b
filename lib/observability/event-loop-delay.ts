/** How far behind the event loop is: what every request of this process waits at each of its turns. */
export interface EventLoopDelay {
  /** Milliseconds, smoothed: one collection of garbage does not count as overload, a second of it does. */
  read(): number;
  stop(): void;
}

const everyMs = 50;
/** Share of the newest figure: after 4 of them, 200 ms, three quarters of what is seen are new. */
const weight = 0.3;

/** Measures the delay with a timer of its own, which keeps no process alive. */
export function watchEventLoop(): EventLoopDelay {
  let smoothed = 0;
  let due = performance.now() + everyMs;
  const timer = setInterval(() => {
    const now = performance.now();
    smoothed += weight * (Math.max(0, now - due) - smoothed);
    due = now + everyMs;
  }, everyMs);
  timer.unref();
  return {
    // While the loop stands still the timer says nothing: what is overdue counts, too.
    read: () => Math.max(smoothed, weight * (performance.now() - due)),
    stop: () => clearInterval(timer),
  };
}
