interface Pending<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Batches writes: a single item is written at once; items that arrive during a write, or within `lingerMs` of
 * its start, go together in the next one. There is one write at a time.
 * @param write resolves with one result per item, in the order of the items, or with nothing.
 * @returns a function that resolves with the item's result once it is written, and rejects if its write
 * fails.
 */
export function batchWrites<Item, Result = void>(
  lingerMs: number,
  write: (items: Item[]) => Promise<readonly Result[]> | Promise<void>,
): (item: Item) => Promise<Result> {
  let pending: Pending<Item, Result>[] = [];
  let nextStart = Number.NEGATIVE_INFINITY;
  let isBusy = false;

  async function writeBatch(): Promise<void> {
    // Items of the same turn of the event loop share a batch.
    await undefined;
    const batch = pending;
    pending = [];
    nextStart = performance.now() + lingerMs;
    try {
      const results = (await write(batch.map(({ item }) => item))) ?? [];
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    isBusy = false;
    if (pending.length > 0) schedule();
  }

  function schedule(): void {
    if (isBusy) return;
    isBusy = true;
    const wait = nextStart - performance.now();
    if (wait > 0) setTimeout(writeBatch, wait);
    else void writeBatch();
  }

  return (item) =>
    new Promise((resolve, reject) => {
      pending.push({ item, resolve, reject });
      schedule();
    });
}
