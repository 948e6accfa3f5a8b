/** The part of this process's time that one request takes. */
export interface Work {
  /** Stops and continues the count while the request waits for its client or for its turn. */
  pause(): void;
  resume(): void;
  /** Adds a cost that is known otherwise, such as that of a thread. */
  add(ms: number): void;
  /** Ends the count. Idempotent. @returns the cost in milliseconds. */
  end(): number;
}

/**
 * CPU time of the thread. It stands while all requests wait for PostgreSQL, and while the machine is busy
 * with other processes.
 */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Estimates the cost of requests. Node.js cannot attribute its CPU time to requests, so the requests that
 * are at work at a moment share that moment equally: all costs together are the time in which at least one
 * was at work. A request is therefore not charged for all that others did beside it.
 * @param now milliseconds of a clock that never goes back.
 */
export function createWorkMeter(now: () => number = cpuMs): { begin(): Work } {
  let atWork = 0;
  /** What a request would have cost that has been at work since the start. */
  let total = 0;
  let countedAt = 0;

  function change(by: 1 | -1): number {
    const moment = now();
    if (atWork > 0) total += (moment - countedAt) / atWork;
    countedAt = moment;
    atWork += by;
    return total;
  }

  return {
    begin() {
      let cost = 0;
      let since: number | undefined = change(1);
      const pause = () => {
        if (since === undefined) return;
        cost += change(-1) - since;
        since = undefined;
      };
      return {
        pause,
        resume() {
          since ??= change(1);
        },
        add(ms) {
          cost += ms;
        },
        end() {
          pause();
          return cost;
        },
      };
    },
  };
}
