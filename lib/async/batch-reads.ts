/**
 * Batches reads of values whose keys are known in advance: one call reads the value that is asked for and as
 * many of the remaining ones as it returns, which are kept until they are asked for. Calls never overlap.
 * @param readMany returns at least the value of the first key, if there is one.
 * @returns a function that resolves with the value of a key, or null if there is none. Call it once for each
 * key. It rejects if its read fails; the next call reads again.
 */
export function batchReads<Value>(
  keys: readonly string[],
  readMany: (keys: string[]) => Promise<Record<string, Value | null>>,
): (key: string) => Promise<Value | null> {
  const unread = new Set(keys);
  const read = new Map<string, Value | null>();
  let reading: Promise<void> | undefined;

  async function readMore(first: string): Promise<void> {
    unread.delete(first);
    const found = await readMany([first, ...unread]);
    for (const [key, value] of Object.entries({ [first]: null, ...found })) {
      unread.delete(key);
      read.set(key, value);
    }
  }

  return async (key) => {
    while (!read.has(key)) {
      reading ??= readMore(key).finally(() => {
        reading = undefined;
      });
      await reading;
    }
    const value = read.get(key) ?? null;
    read.delete(key);
    return value;
  };
}
