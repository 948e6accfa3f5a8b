/** Limits concurrent work per key and in total. */
export interface KeyedLimiter {
  /** Waits for a slot. @returns a function that frees it. @throws the signal's reason if it aborts first. */
  enter(key: string, signal: AbortSignal): Promise<() => void>;
}

/** First come, first served, except that work whose key is at its limit does not hold up the others. */
export function createKeyedLimiter({ perKey, total }: { perKey: number; total: number }): KeyedLimiter {
  const running = new Map<string, number>();
  const waiting = new Set<{ key: string; admit: () => void }>();
  let count = 0;

  function admitWaiting(): void {
    for (const each of waiting) {
      if (count >= total) return;
      const ofKey = running.get(each.key) ?? 0;
      if (ofKey >= perKey) continue;
      waiting.delete(each);
      running.set(each.key, ofKey + 1);
      count += 1;
      each.admit();
    }
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
          waiting.delete(entry);
          reject(signal.reason);
        };
        const entry = {
          key,
          admit() {
            signal.removeEventListener('abort', giveUp);
            resolve(() => leave(key));
          },
        };
        if (signal.aborted) return giveUp();
        signal.addEventListener('abort', giveUp);
        waiting.add(entry);
        admitWaiting();
      }),
  };
}
