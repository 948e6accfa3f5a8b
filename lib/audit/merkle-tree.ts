import { createHash } from 'node:crypto';

/**
 * The roots of the complete subtrees of a Merkle tree, from the left: all that is needed to append leaves and
 * to compute the root.
 */
export interface Frontier {
  /** Number of leaves. */
  size: number;
  hashes: Buffer[];
}

const hash = (...parts: readonly Uint8Array[]) => {
  const sha = createHash('sha256');
  for (const part of parts) sha.update(part);
  return sha.digest();
};

// The prefixes keep a node from being taken for a leaf (RFC 9162, section 2.1.1).
const leafPrefix = Uint8Array.of(0);
const nodePrefix = Uint8Array.of(1);

/** SHA-256 of a leaf (RFC 9162, section 2.1.1). */
export function hashLeaf(entry: string): Buffer {
  return hash(leafPrefix, Buffer.from(entry));
}

/** SHA-256 of a node with two subtrees (RFC 9162, section 2.1.1). */
export function hashNode(left: Uint8Array, right: Uint8Array): Buffer {
  return hash(nodePrefix, left, right);
}

/** A tree without leaves. */
export function emptyFrontier(): Frontier {
  return { size: 0, hashes: [] };
}

/** A complete subtree: of the leaves from `position * 2 ** level`, as many as `2 ** level`. */
export interface TreeNode {
  level: number;
  position: number;
}

/**
 * Appends a leaf, in place: as many subtrees become one as the size has trailing ones in binary.
 * @param onNode is called with each subtree that is complete now.
 */
export function appendLeaf(
  frontier: Frontier,
  leaf: Buffer,
  onNode?: (node: TreeNode & { hash: Buffer }) => void,
): void {
  let node = leaf;
  let level = 0;
  for (let rest = frontier.size; rest % 2 === 1; rest = (rest - 1) / 2) {
    node = hashNode(frontier.hashes.pop() as Buffer, node);
    level += 1;
    onNode?.({ level, position: (rest - 1) / 2, hash: node });
  }
  frontier.hashes.push(node);
  frontier.size += 1;
}

/** The Merkle tree hash (RFC 9162, section 2.1.1). Of an empty tree it is the hash of nothing. */
export function rootOf({ hashes }: Frontier): Buffer {
  const root = hashes.reduceRight<Buffer | undefined>(
    (right, left) => (right ? hashNode(left, right) : left),
    undefined,
  );
  return root ?? hash();
}
