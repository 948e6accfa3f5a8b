import { createReadStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { DuplicateMember, parseUniqueJson } from '#lib/json/check-json.ts';
import type { ImportSource, SourceItem } from '#lib/moving/source.ts';

/** Rows as `POST /records/import` takes them, one a line; the first line may have the keys of receipts. */
export async function readNdjson(file: string): Promise<ImportSource> {
  const lines = parseLines(file);
  const first = await lines.next();
  const keys = !first.done && 'row' in first.value && 'keys' in first.value.row ? first.value.row : undefined;
  return { keys, items: rest() };

  async function* rest(): AsyncGenerator<SourceItem> {
    if (!keys && !first.done) yield first.value;
    yield* lines;
  }
}

async function* parseLines(file: string): AsyncGenerator<SourceItem> {
  let number = 0;
  const name = path.basename(file);
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    number += 1;
    const place = `${name}, line ${number}`;
    const text = number === 1 ? line.replace(/^\uFEFF/, '') : line;
    if (text.trim() === '') continue;
    const original = { line: number, text };
    const parsed = parseRow(text);
    yield 'row' in parsed ? { place, ...parsed } : { place, original, ...parsed };
  }
}

function parseRow(text: string): { row: Record<string, unknown> } | { fault: string } {
  try {
    const value = parseUniqueJson(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return { row: value as Record<string, unknown> };
  } catch (error) {
    if (error instanceof DuplicateMember) return { fault: `${error.pointer} ${error.message}` };
  }
  return { fault: 'is no JSON object' };
}
