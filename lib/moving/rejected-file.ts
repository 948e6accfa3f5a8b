import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { ImportSource, Original } from '#lib/moving/source.ts';

/** Writes the rows to be corrected and imported again. */
export interface RejectedFile {
  /** @param line a row as JSON. @param original the line of the file that it came from. */
  write(line: string | undefined, original: Original | undefined): void;
  close(): Promise<void>;
}

/**
 * The file of rejected rows, in the format of the source: lines of a table as they were, under its head; rows
 * of other sources as NDJSON, under the keys of their receipts. It is made with the first of them.
 * @param file undefined: nothing is written.
 */
export function createRejectedFile(
  file: string | undefined,
  { keys, rejectedHead }: Pick<ImportSource, 'keys' | 'rejectedHead'>,
): RejectedFile {
  let stream: ReturnType<typeof createWriteStream> | undefined;
  let last: number | undefined;
  const open = (name: string) => {
    const made = createWriteStream(name);
    if (rejectedHead) made.write(rejectedHead());
    else if (keys) made.write(`${JSON.stringify(keys)}\n`);
    return made;
  };
  return {
    write(line, original) {
      const text = original?.text ?? line;
      // Several rows of one line are corrected in that line.
      if (file === undefined || text === undefined || (original && original.line === last)) return;
      last = original?.line;
      stream ??= open(file);
      stream.write(text);
      stream.write('\n');
    },
    async close() {
      if (!stream) return;
      stream.end();
      await finished(stream);
    },
  };
}
