import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** What `manifest.json` states of a file. */
export interface FileDigest {
  /** SHA-256 in hexadecimal. */
  sha256: string;
  /** Number of line feeds. */
  lines: number;
}

/** The digest of a file, in constant memory. */
export async function digestFile(file: string): Promise<FileDigest> {
  const hash = createHash('sha256');
  let lines = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) lines += 1;
  }
  return { sha256: hash.digest('hex'), lines };
}
