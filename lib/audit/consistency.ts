import { hashNode, rootOf, type TreeNode } from '#lib/audit/merkle-tree.ts';

/** A head of a tree. */
interface Head {
  size: number;
  root: Buffer;
}

/**
 * The hashes of a consistency proof (RFC 9162, section 2.1.4.1), each as the complete subtrees that it is
 * computed from, from the left.
 * @param from a size of at least 1, and at most `to`.
 */
export function proofNodes(from: number, to: number): TreeNode[][] {
  return subproof(from, { start: 0, end: to }, true).map(completeNodes);
}

interface Range {
  start: number;
  end: number;
}

/** @param isKnown whether the verifier knows the hash of the first `size` leaves of the range. */
function subproof(size: number, { start, end }: Range, isKnown: boolean): Range[] {
  if (size === end - start) return isKnown ? [] : [{ start, end }];
  const middle = start + largestPower(end - start);
  return size <= middle - start
    ? [...subproof(size, { start, end: middle }, isKnown), { start: middle, end }]
    : [...subproof(size - (middle - start), { start: middle, end }, false), { start, end: middle }];
}

/** The largest power of two that is smaller than a number of leaves. */
function largestPower(leaves: number): number {
  let power = 1;
  while (power * 2 < leaves) power *= 2;
  return power;
}

/** A range of a proof begins at a multiple of the largest power of two in its length. */
function completeNodes({ start, end }: Range): TreeNode[] {
  const nodes: TreeNode[] = [];
  for (let at = start; at < end; ) {
    let level = 0;
    while (at + 2 ** (level + 1) <= end) level += 1;
    nodes.push({ level, position: at / 2 ** level });
    at += 2 ** level;
  }
  return nodes;
}

/** The hash of a range of which the complete subtrees are given, from the left. */
export function hashOfNodes(hashes: readonly Buffer[]): Buffer {
  return rootOf({ size: 0, hashes: [...hashes] });
}

/** Whether a proof shows that the leaves of a head are the first of another (RFC 9162, section 2.1.4.2). */
export function isConsistent(from: Head, to: Head, proof: readonly Buffer[]): boolean {
  if (from.size > to.size) return false;
  if (from.size === to.size) return proof.length === 0 && from.root.equals(to.root);
  if (from.size === 0) return proof.length === 0;
  const [seed, ...path] = isPowerOfTwo(from.size) ? [from.root, ...proof] : proof;
  if (!seed) return false;
  let [first, second] = [from.size - 1, to.size - 1];
  const goUp = () => {
    first = Math.floor(first / 2);
    second = Math.floor(second / 2);
  };
  while (first % 2 === 1) goUp();
  let [older, newer] = [seed, seed];
  for (const hash of path) {
    if (second === 0) return false;
    if (first % 2 === 1 || first === second) {
      older = hashNode(hash, older);
      newer = hashNode(hash, newer);
      while (first !== 0 && first % 2 === 0) goUp();
    } else newer = hashNode(newer, hash);
    goUp();
  }
  return second === 0 && older.equals(from.root) && newer.equals(to.root);
}

function isPowerOfTwo(size: number): boolean {
  return 2 ** Math.round(Math.log2(size)) === size;
}
