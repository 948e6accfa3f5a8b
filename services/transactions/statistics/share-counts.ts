import { LRUCache } from 'lru-cache';

/** A count with the number of rows that were read for it. */
interface Counted {
  rows: number;
}

/** A count of more rows is reused. */
const reusedFrom = 10_000;
/** A count that took a second is reused for 30 seconds, so that it keeps at most 3 % of a CPU busy. */
const reuseFactor = 30;
/** No count is reused for longer (openapi.yaml, `getStats`). */
const maxReuseMs = 60_000;

/**
 * Makes a function that counts what is wanted. Requests for the same count share it while it runs, and a long
 * one for a while more.
 * @param from how many rows make a count long.
 */
export function shareCounts<Wanted, Count extends Counted>(
  count: (wanted: Wanted) => Promise<Count>,
  from = reusedFrom,
): (wanted: Wanted) => Promise<Count> {
  const known = new LRUCache<string, Promise<Count>>({ max: 500 });
  return (wanted) => {
    const name = JSON.stringify(wanted);
    const shared = known.get(name);
    if (shared) return shared;
    const start = performance.now();
    const counting = count(wanted);
    known.set(name, counting);
    counting.then(
      ({ rows }) => {
        const ttl = Math.min(maxReuseMs, Math.ceil((performance.now() - start) * reuseFactor));
        if (rows >= from) known.set(name, counting, { ttl });
        else known.delete(name);
      },
      () => known.delete(name),
    );
    return counting;
  };
}
