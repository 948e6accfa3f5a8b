import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseForeignJson } from '#lib/json/check-json.ts';

/** A fault in exported evidence; the message names the file and the place. */
export class EvidenceFault extends Error {}

/** Reads a file of JSON objects, one a line. @throws EvidenceFault for a missing file or another line. */
export async function* readObjects(
  file: string,
): AsyncGenerator<{ value: Record<string, unknown>; place: string }> {
  const name = path.basename(file);
  const lines = createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY });
  let number = 0;
  try {
    for await (const text of lines) {
      number += 1;
      const place = `${name}, line ${number}`;
      yield { value: parseObject(text, place), place };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw new EvidenceFault(`${name} is missing.`);
    throw error;
  }
}

/** @throws EvidenceFault unless the text is a JSON object. */
export function parseObject(text: string, place: string): Record<string, unknown> {
  try {
    const value = parseForeignJson(Buffer.from(text));
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw new EvidenceFault(`${place}: not a JSON object.`);
}
