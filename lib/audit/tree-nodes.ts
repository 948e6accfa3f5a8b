import { hashOfNodes, proofNodes } from '#lib/audit/consistency.ts';
import { appendLeaf, emptyFrontier, rootOf, type TreeNode } from '#lib/audit/merkle-tree.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

/** A complete subtree with its hash. */
export type HashedNode = TreeNode & { hash: Buffer };

/** Smaller subtrees are computed from their leaves: of 256 lines two hashes are stored. */
export const storedLevel = 8;

/** Stores the subtrees that sealing has completed. */
export async function storeNodes(tx: Queries, nodes: readonly HashedNode[]): Promise<void> {
  if (nodes.length === 0) return;
  await tx.query(sql`
    INSERT INTO audit_nodes (level, position, hash)
    SELECT n.level, n.position, n.hash
      FROM unnest(${nodes.map(({ level }) => level)}::smallint[], ${nodes.map(({ position }) => position)}::bigint[],
                  ${nodes.map(({ hash }) => hash)}::bytea[]) AS n (level, position, hash)`);
}

/**
 * The consistency proof between two sizes of the schema's log (RFC 9162, section 2.1.4), with as many
 * look-ups as the tree is high.
 * @returns null if the log is shorter.
 */
export async function readConsistencyProof(
  db: Queries,
  { from, to }: { from: number; to: number },
): Promise<Buffer[] | null> {
  const { size } = await db.one<{ size: string }>(sql`SELECT t.size FROM audit_tree AS t`);
  if (from > to || to > Number(size)) return null;
  if (from === 0) return [];
  const wanted = proofNodes(from, to);
  const hashes = await readNodes(db, wanted.flat());
  return wanted.map((nodes) => hashOfNodes(nodes.map((node) => hashes.get(nameOf(node)) as Buffer)));
}

const nameOf = ({ level, position }: TreeNode) => `${level} ${position}`;

async function readNodes(db: Queries, nodes: readonly TreeNode[]): Promise<Map<string, Buffer>> {
  const large = nodes.filter(({ level }) => level >= storedLevel);
  const stored = await db.query<{ level: number; position: string; hash: Buffer }>(sql`
    SELECT n.level, n.position, n.hash
      FROM unnest(${large.map(({ level }) => level)}::smallint[], ${large.map(({ position }) => position)}::bigint[])
        AS w (level, position) JOIN audit_nodes AS n USING (level, position)`);
  const small = nodes.filter(({ level }) => level < storedLevel);
  const starts = small.map(({ level, position }) => position * 2 ** level);
  const ends = small.map(({ level, position }) => (position + 1) * 2 ** level);
  const leaves = await db.query<{ seq: string; leaf: Buffer }>(sql`
    SELECT l.seq, l.leaf
      FROM unnest(${starts}::bigint[], ${ends}::bigint[]) AS w (first, after)
      JOIN audit_log AS l ON l.seq >= w.first AND l.seq < w.after`);
  const leafAt = new Map(leaves.map(({ seq, leaf }) => [Number(seq), leaf]));
  const computed = small.map((node, index) => {
    const count = 2 ** node.level;
    const ofNode = Array.from({ length: count }, (_, at) => leafAt.get((starts[index] ?? 0) + at) as Buffer);
    return [nameOf(node), hashOfLeaves(ofNode)] as const;
  });
  const found = stored.map(
    ({ level, position, hash }) => [nameOf({ level, position: Number(position) }), hash] as const,
  );
  return new Map([...found, ...computed]);
}

function hashOfLeaves(leaves: readonly Buffer[]): Buffer {
  const frontier = emptyFrontier();
  for (const leaf of leaves) appendLeaf(frontier, leaf);
  return rootOf(frontier);
}
