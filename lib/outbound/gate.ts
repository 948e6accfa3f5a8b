/** Lets requests in, so many at a time. */
export interface Gate {
  /** Waits for a place. @returns how to leave it. @throws the signal's reason. */
  enter(host: string, signal: AbortSignal): Promise<() => void>;
}

/** A gate that is fair: first come, first served, save those whose own host is full. */
export function createGate({ perHost, inAll }: { perHost: number; inAll: number }): Gate {
  const inside = new Map<string, number>();
  const waiting = new Set<{ host: string; admit: () => void }>();
  let count = 0;

  function admitWaiting(): void {
    for (const each of waiting) {
      if (count >= inAll) return;
      const there = inside.get(each.host) ?? 0;
      if (there >= perHost) continue;
      waiting.delete(each);
      inside.set(each.host, there + 1);
      count += 1;
      each.admit();
    }
  }

  function leave(host: string): void {
    const left = (inside.get(host) as number) - 1;
    if (left === 0) inside.delete(host);
    else inside.set(host, left);
    count -= 1;
    admitWaiting();
  }

  return {
    enter: (host, signal) =>
      new Promise((resolve, reject) => {
        const giveUp = () => {
          waiting.delete(place);
          reject(signal.reason);
        };
        const place = {
          host,
          admit() {
            signal.removeEventListener('abort', giveUp);
            resolve(() => leave(host));
          },
        };
        if (signal.aborted) return giveUp();
        signal.addEventListener('abort', giveUp);
        waiting.add(place);
        admitWaiting();
      }),
  };
}
