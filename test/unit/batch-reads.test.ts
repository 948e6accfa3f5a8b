import { expect, it } from 'vitest';
import { batchReads } from '#lib/async/batch-reads.ts';

/** A source of values. @param fitting values per answer. @param nothing keys without a value. */
function sourceOf(fitting: number, nothing: readonly string[] = []) {
  const calls: string[][] = [];
  return {
    calls,
    async readMany(keys: string[]) {
      calls.push(keys);
      return Object.fromEntries(
        keys.slice(0, fitting).map((key) => [key, nothing.includes(key) ? null : `value of ${key}`]),
      );
    },
  };
}

it('reads values that are asked for soon after each other with one call', async () => {
  const { calls, readMany } = sourceOf(10, ['b']);
  const read = batchReads(['a', 'b', 'c'], readMany);
  expect([await read('a'), await read('b'), await read('c')]).toEqual(['value of a', null, 'value of c']);
  expect(calls).toEqual([['a', 'b', 'c']]);
});

it('reads a value that did not fit into the answer in its turn, with the remaining values', async () => {
  const { calls, readMany } = sourceOf(2);
  const read = batchReads(['a', 'b', 'c', 'd'], readMany);
  for (const key of ['a', 'b', 'c', 'd']) expect(await read(key)).toBe(`value of ${key}`);
  expect(calls).toEqual([
    ['a', 'b', 'c', 'd'],
    ['c', 'd'],
  ]);
});

it('reads again after a read that failed', async () => {
  let failures = 1;
  const read = batchReads(['a'], async () => {
    failures -= 1;
    if (failures >= 0) throw new Error('away');
    return { a: 'value of a' };
  });
  await expect(read('a')).rejects.toThrow('away');
  expect(await read('a')).toBe('value of a');
});
