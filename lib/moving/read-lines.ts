import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { StartupError } from '#lib/errors/fail.ts';
import { lineWithoutUtf8, notUtf8, textOfUtf8 } from '#lib/text/utf8.ts';

/** A line of a file, without its line feed. */
export interface Line {
  /** From 1. */
  line: number;
  bytes: Buffer;
  /** Undefined: the bytes are not UTF-8. */
  text: string | undefined;
}

const lineFeed = 0x0a;

/** Reads a whole file in UTF-8. @throws StartupError, which names a line with other bytes. */
export async function readText(file: string): Promise<string> {
  const bytes = await readFile(file).catch((cause: Error) => {
    throw unreadable(file, cause);
  });
  const text = textOfUtf8(bytes);
  if (text === undefined) throw new StartupError(`${file}, line ${lineWithoutUtf8(bytes)}: ${notUtf8}.`);
  return text;
}

/** Reads the lines of a file in UTF-8, which line feeds alone divide. @throws StartupError. */
export async function* readLines(file: string): AsyncGenerator<Line> {
  let line = 0;
  for await (const bytes of split(chunksOf(file))) {
    line += 1;
    yield { line, bytes, text: textOfUtf8(bytes) };
  }
}

async function* split(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end)]);
      rest = [];
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(file) as AsyncIterable<Buffer>;
  } catch (cause) {
    throw unreadable(file, cause as Error);
  }
}

function unreadable(file: string, cause: Error): StartupError {
  return new StartupError(`${file} cannot be read: ${cause.message}`, { cause });
}
