import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createHeldHeads, type HeldHead } from '#lib/evidence/held-heads.ts';

describe('heads from elsewhere', () => {
  const rootOf = (size: number) => size.toString(16).padStart(64, '0');

  it('come from the smallest to the largest, in whatever order they were stated, and with their lines', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 50 }), { maxLength: 80 }), (sizes) => {
        const heads = createHeldHeads();
        const given = sizes.map((size, index) => ({ size, root: rootOf(size), line: index + 1 }));
        for (const head of given) heads.add(head);
        heads.sort();
        const read: HeldHead[] = [];
        for (let next = heads.smallest(); next; next = heads.smallest()) {
          expect(heads.largest()?.size).toBe(Math.max(...sizes));
          read.push(next);
          heads.removeSmallest();
        }
        expect(heads.largest()).toBeUndefined();
        const kept = given.filter(({ size }, index) => given[index - 1]?.size !== size);
        expect(read.map(({ size }) => size)).toEqual(kept.map(({ size }) => size).sort((a, b) => a - b));
        expect(read.toSorted((a, b) => a.line - b.line)).toEqual(kept);
      }),
    );
  });

  it('take little memory each', () => {
    const used = () => {
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const count = 300_000;
    const before = used();
    const heads = createHeldHeads();
    for (let size = 1; size <= count; size += 1) heads.add({ size, root: rootOf(size), line: size });
    heads.sort();
    expect(heads.largest()?.size).toBe(count);
    // What was only made on the way is not counted: it may not have been collected yet.
    v8.setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
    expect(used() - before).toBeLessThan(count * 80);
  });
});
