/** Limits concurrent work per key and in total. */
export interface KeyedLimiter {
  /**
   * Waits for a place. @returns a function that frees it. @throws the signal's reason if it aborts first;
   * {@link TooManyWaiting}.
   */
  enter(key: string, signal: AbortSignal): Promise<() => void>;
}

/** The key has more work waiting than any other, and there is no room for more. */
class TooManyWaiting extends Error {
  override name = 'TooManyWaiting';
}

interface Waiting {
  admit: () => void;
  refuse: (reason: unknown) => void;
}

/**
 * Keys take turns, so that work of one key waits only for its own and for one piece of each other key. Work
 * whose key is at its limit does not hold up the others.
 * @param maxWaiting limit of work that waits, in total; beyond it the longest line loses its newest.
 */
export function createKeyedLimiter({
  perKey,
  total,
  maxWaiting = Number.POSITIVE_INFINITY,
}: {
  perKey: number;
  total: number;
  maxWaiting?: number;
}): KeyedLimiter {
  const running = new Map<string, number>();
  /** In the order of turns: a key that was admitted goes to the end. No line is empty. */
  const lines = new Map<string, Set<Waiting>>();
  let count = 0;
  let waitingCount = 0;

  function add(key: string, waiting: Waiting): void {
    const line = lines.get(key) ?? new Set();
    lines.set(key, line.add(waiting));
    waitingCount += 1;
  }

  function remove(key: string, waiting: Waiting): void {
    const line = lines.get(key);
    if (!line?.delete(waiting)) return;
    waitingCount -= 1;
    if (line.size === 0) lines.delete(key);
  }

  function admitWaiting(): void {
    for (const [key, line] of lines) {
      if (count >= total) return;
      const ofKey = running.get(key) ?? 0;
      const [first] = line;
      if (ofKey >= perKey || !first) continue;
      remove(key, first);
      // A Map visits a key that is set again once more, after the others.
      if (lines.delete(key)) lines.set(key, line);
      running.set(key, ofKey + 1);
      count += 1;
      first.admit();
    }
  }

  function refuseExcess(): void {
    if (waitingCount <= maxWaiting) return;
    const [[key, line]] = [...lines].sort(([, one], [, other]) => other.size - one.size) as [
      [string, Set<Waiting>],
    ];
    const newest = [...line].at(-1) as Waiting;
    remove(key, newest);
    newest.refuse(new TooManyWaiting());
  }

  function leave(key: string): void {
    const left = (running.get(key) as number) - 1;
    if (left === 0) running.delete(key);
    else running.set(key, left);
    count -= 1;
    admitWaiting();
  }

  return {
    enter: (key, signal) =>
      new Promise((resolve, reject) => {
        const giveUp = () => {
          remove(key, entry);
          reject(signal.reason);
        };
        const settle = () => signal.removeEventListener('abort', giveUp);
        const entry: Waiting = {
          admit() {
            settle();
            resolve(() => leave(key));
          },
          refuse(reason) {
            settle();
            reject(reason);
          },
        };
        if (signal.aborted) return giveUp();
        signal.addEventListener('abort', giveUp);
        add(key, entry);
        admitWaiting();
        refuseExcess();
      }),
  };
}
