import { leafOf, type SealedLine } from '#lib/audit/leaf.ts';
import { appendLeaf, emptyFrontier, rootOf } from '#lib/audit/merkle-tree.ts';
import { EvidenceFault, readObjects } from '#lib/evidence/ndjson.ts';

/** Roots that checkpoints state for a log, by size of the tree. */
export type StatedRoots = ReadonlyMap<number, string>;

const needed = ['seq', 'id', 'at', 'actor', 'actorKind', 'action', 'target'];
const optional = ['outcome', 'digest', 'request'];
const blanked = ['seq', 'id', 'at', 'leaf'];

/**
 * Verifies a log: its lines must have all numbers in order, and their leaves the roots of the checkpoints.
 * @param onLine is called with each line that has a body.
 * @returns how many lines there are, how many of them checkpoints cover, and of how many only the hash is
 * left.
 * @throws EvidenceFault.
 */
export async function verifyLog(
  file: string,
  stated: StatedRoots,
  onLine: (line: SealedLine, place: string) => void,
): Promise<{ lines: number; covered: number; blanked: number }> {
  let blankedLines = 0;
  const tree = emptyFrontier();
  const covered = Math.max(0, ...stated.keys());
  let last = '';
  for await (const { value, place } of covered === 0 ? [] : readObjects(file)) {
    if (value.seq !== tree.size)
      throw new EvidenceFault(
        `${place}: the line with seq ${tree.size} is missing, or the order is changed.`,
      );
    if (Object.hasOwn(value, 'leaf')) blankedLines += 1;
    appendLeaf(tree, leafIn(value, place, onLine));
    const root = stated.get(tree.size);
    if (root !== undefined && root !== rootOf(tree).toString('hex'))
      throw new EvidenceFault(
        `${place}: the root of the lines up to here is not that of the checkpoint: one of them was changed${last && ` after ${last}`}.`,
      );
    if (root !== undefined) last = place;
  }
  if (tree.size < covered)
    throw new EvidenceFault(`${file} ends after ${tree.size} lines; a checkpoint states ${covered}.`);
  return { lines: tree.size, covered, blanked: blankedLines };
}

function leafIn(
  value: Record<string, unknown>,
  place: string,
  onLine: (line: SealedLine, place: string) => void,
): Buffer {
  if (hasMembers(value, blanked)) return Buffer.from(String(value.leaf), 'hex');
  if (!hasMembers(value, needed, optional))
    throw new EvidenceFault(`${place}: neither a line nor what a blanked line has left.`);
  const line = value as unknown as SealedLine;
  onLine(line, place);
  return leafOf(line);
}

function hasMembers(
  value: Record<string, unknown>,
  names: readonly string[],
  more: readonly string[] = [],
): boolean {
  return (
    names.every((name) => Object.hasOwn(value, name)) &&
    Object.keys(value).every((name) => names.includes(name) || more.includes(name))
  );
}
