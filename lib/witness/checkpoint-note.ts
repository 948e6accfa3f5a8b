import { readBase64 } from '#lib/witness/note.ts';

/** The head of a log as its checkpoint states it (c2sp.org/tlog-checkpoint). */
export interface LogHead {
  size: number;
  /** SHA-256. */
  root: Buffer;
}

/** A head, and the log whose it is. */
export interface NotedHead extends LogHead {
  origin: string;
}

/** What a log sends to a witness (c2sp.org/tlog-witness). */
export interface CheckpointUpdate {
  /** The size that the log believes the witness to know. */
  old: number;
  proof: Buffer[];
  /** The signed note. */
  note: string;
}

const hashBytes = 32;
const maxProof = 63;

/** The text of a checkpoint, which log and witnesses sign. */
export function checkpointText({ origin, size, root }: NotedHead): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`;
}

/** Reads the text of a note as a checkpoint. @returns undefined for another text. */
export function readCheckpointText(text: string): NotedHead | undefined {
  const [origin = '', sizeText = '', rootText = '', ...extensions] = text.slice(0, -1).split('\n');
  const size = readSize(sizeText);
  const root = readBase64(rootText);
  if (origin === '' || size === undefined || root?.length !== hashBytes || extensions.includes(''))
    return undefined;
  return { origin, size, root };
}

/** Reads a size without leading zeros. */
export function readSize(text: string): number | undefined {
  return /^(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : undefined;
}

/** Writes the body of `add-checkpoint`. */
export function writeUpdate({ old, proof, note }: CheckpointUpdate): string {
  return `old ${old}\n${proof.map((hash) => `${hash.toString('base64')}\n`).join('')}\n${note}`;
}

/** Reads the body of `add-checkpoint`. @returns undefined for another text. */
export function readUpdate(body: string): CheckpointUpdate | undefined {
  const end = body.indexOf('\n\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = body.slice(0, end).split('\n');
  const old = first.startsWith('old ') ? readSize(first.slice('old '.length)) : undefined;
  if (old === undefined || lines.length > maxProof) return undefined;
  const proof = lines.map(readBase64);
  if (!proof.every((hash) => hash?.length === hashBytes)) return undefined;
  return { old, proof: proof as Buffer[], note: body.slice(end + 2) };
}
