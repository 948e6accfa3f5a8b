import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashOfNodes, isConsistent, proofNodes } from '#lib/audit/consistency.ts';
import { appendLeaf, emptyFrontier, rootOf } from '#lib/audit/merkle-tree.ts';
import type { LogHead } from '#lib/witness/checkpoint-note.ts';
import { isFork, judgeUpdate } from '../../services/peers/domain/witness.ts';

const leafOf = (index: number) => createHash('sha256').update(`leaf ${index}`).digest();
const leaves = Array.from({ length: 300 }, (_, index) => leafOf(index));
const hashOf = (from: number, to: number) => {
  const tree = emptyFrontier();
  for (const leaf of leaves.slice(from, to)) appendLeaf(tree, leaf);
  return rootOf(tree);
};
const headOf = (size: number): LogHead => ({ size, root: hashOf(0, size) });
const proofOf = (from: number, to: number) =>
  from === 0
    ? []
    : proofNodes(from, to).map((nodes) =>
        hashOfNodes(
          nodes.map(({ level, position }) => hashOf(position * 2 ** level, (position + 1) * 2 ** level)),
        ),
      );
const sizes = fc
  .tuple(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 300 }))
  .map(([a, b]) => (a < b ? ([a, b] as const) : ([b, a] as const)));

describe('a consistency proof', () => {
  it('shows that a tree begins as an earlier one, of any two sizes', () => {
    fc.assert(
      fc.property(sizes, ([from, to]) => {
        expect(isConsistent(headOf(from), headOf(to), proofOf(from, to))).toBe(true);
      }),
    );
  });

  it('shows nothing with another root, or with a hash changed, removed or added', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), ([from, to], at) => {
        fc.pre(from > 0 && from < to);
        const proof = proofOf(from, to);
        const other = leafOf(1_000);
        const place = at % proof.length;
        const wrong = [
          [headOf(from), { size: to, root: other }, proof],
          [{ size: from, root: other }, headOf(to), proof],
          [headOf(from), headOf(to), proof.with(place, other)],
          [headOf(from), headOf(to), proof.toSpliced(place, 1)],
          [headOf(from), headOf(to), [...proof, other]],
          [headOf(to), headOf(from), proof],
        ] as const;
        for (const [one, two, given] of wrong) expect(isConsistent(one, two, given)).toBe(false);
      }),
    );
  });
});

describe('a witness', () => {
  it('cosigns what continues the head that it knows, and nothing else', () => {
    fc.assert(
      fc.property(sizes, fc.boolean(), ([from, to], isForked) => {
        const known = from === 0 ? undefined : headOf(from);
        const stated = isForked ? { size: to, root: leafOf(7) } : headOf(to);
        const update = { old: from, proof: proofOf(from, to) };
        // To who knows nothing, any first head is as good as another.
        const isWrong = isForked && (known !== undefined || to === 0);
        expect(judgeUpdate(known, update, stated)).toBe(isWrong ? 'inconsistent' : 'cosign');
      }),
    );
  });

  it('names a fork, a wrong size and one that is impossible', () => {
    const known = headOf(20);
    expect(isFork(known, { size: 20, root: leafOf(7) })).toBe(true);
    expect(isFork(known, headOf(20))).toBe(false);
    expect(judgeUpdate(known, { old: 20, proof: [] }, { size: 20, root: leafOf(7) })).toBe('inconsistent');
    expect(judgeUpdate(known, { old: 12, proof: proofOf(12, 30) }, headOf(30))).toBe('stale');
    expect(judgeUpdate(known, { old: 0, proof: [] }, headOf(10))).toBe('stale');
    expect(judgeUpdate(known, { old: 20, proof: [] }, headOf(10))).toBe('malformed');
    expect(judgeUpdate(undefined, { old: 0, proof: [leafOf(1)] }, headOf(10))).toBe('inconsistent');
  });
});
