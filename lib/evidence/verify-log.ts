import type { SealedLine } from '#lib/audit/leaf.ts';
import { appendLeaf, emptyFrontier, hashLeaf, rootOf } from '#lib/audit/merkle-tree.ts';
import {
  canonicalText,
  EvidenceFault,
  type ReadObject,
  readObjects,
  requireCanonical,
} from '#lib/evidence/ndjson.ts';

/** What a log file was found to have. */
export interface LogFindings {
  lines: number;
  /** Lines of which only the hash is left; they are the oldest. */
  blanked: number;
}

/** Reads a log from its beginning, up to the sizes that checkpoints state, in their order. */
export interface LogReader {
  /**
   * Reads the lines up to a size. @param until.mayBeBlanked whether the lines up to there are old enough.
   * @throws EvidenceFault unless the log has them, and the root that the checkpoint states.
   */
  readTo(until: { size: number; root: string; place: string; mayBeBlanked: boolean }): Promise<void>;
  /** @throws EvidenceFault if there are further lines. */
  finish(): Promise<LogFindings>;
  close(): Promise<void>;
}

const needed = ['seq', 'id', 'at', 'actor', 'actorKind', 'action', 'target'];
const optional = ['outcome', 'digest', 'request'];
const blankedMembers = ['seq', 'id', 'at', 'leaf'];
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** @param onLine is called with each line that has a body. */
export function createLogReader(
  file: string,
  name: string,
  onLine: (line: SealedLine, place: string) => Promise<void> | undefined,
): LogReader {
  const objects = readObjects(file);
  const tree = emptyFrontier();
  let root = rootOf(tree).toString('hex');
  let last = '';
  let blanked = 0;

  async function readLine(read: ReadObject, mayBeBlanked: boolean): Promise<void> {
    const { value, place } = read;
    if (value.seq !== tree.size)
      throw new EvidenceFault(
        `${place}: the line with seq ${tree.size} is missing, or the order is changed.`,
      );
    if (hasMembers(value, blankedMembers)) {
      if (blanked < tree.size)
        throw new EvidenceFault(`${place}: a line is blanked after one that is not; only the oldest are.`);
      if (!mayBeBlanked) throw new EvidenceFault(`${place}: a line is blanked before its retention.`);
      appendLeaf(tree, blankedLeaf(read));
      blanked += 1;
      return;
    }
    if (!isLine(value)) throw new EvidenceFault(`${place}: neither a line nor what a blanked line has left.`);
    await onLine(value, place);
    const text = canonicalText(value, place);
    appendLeaf(tree, hashLeaf(text));
    if (text !== read.text) requireCanonical(read);
  }

  return {
    async readTo({ size, root: stated, place, mayBeBlanked }) {
      const isLonger = size > tree.size;
      while (tree.size < size) {
        const { value: read, done } = await objects.next();
        if (done)
          throw new EvidenceFault(`${name} ends after ${tree.size} lines; a checkpoint states ${size}.`);
        await readLine(read, mayBeBlanked);
      }
      if (isLonger) root = rootOf(tree).toString('hex');
      if (size !== tree.size || stated !== root)
        throw new EvidenceFault(
          `${name}: the root of ${size} lines is not that of the checkpoint (${place}): one of them was changed${last && ` after those of ${last}`}.`,
        );
      last = place;
    },
    async finish() {
      const { value: read } = await objects.next();
      if (read) throw new EvidenceFault(`${read.place}: no checkpoint covers this line.`);
      return { lines: tree.size, blanked };
    },
    async close() {
      await objects.return(undefined);
    },
  };
}

/** Of a blanked line the hash is proved; `id` and `at` must be well-formed. */
function blankedLeaf(read: ReadObject): Buffer {
  const { leaf, id, at } = read.value;
  const areTexts = [leaf, id, at].every(isText);
  const isWellFormed =
    areTexts && /^[0-9a-f]{64}$/.test(String(leaf)) && uuid.test(String(id)) && at === timeOf(at);
  if (!isWellFormed) throw new EvidenceFault(`${read.place}: not what a blanked line has left.`);
  requireCanonical(read);
  return Buffer.from(String(leaf), 'hex');
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function timeOf(at: unknown): string | undefined {
  const time = new Date(String(at));
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

function isLine(value: object): value is SealedLine {
  const { seq: _, ...texts }: Record<string, unknown> = { ...value };
  return hasMembers({ ...value }, needed, optional) && Object.values(texts).every(isText);
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
