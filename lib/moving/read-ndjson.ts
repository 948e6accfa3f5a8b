import path from 'node:path';
import { DuplicateMember, parseUniqueJson } from '#lib/json/check-json.ts';
import { readLines } from '#lib/moving/read-lines.ts';
import type { ImportSource, SourceItem } from '#lib/moving/source.ts';
import { notUtf8 } from '#lib/text/utf8.ts';

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
  const name = path.basename(file);
  for await (const { line, bytes, text } of readLines(file)) {
    const place = `${name}, line ${line}`;
    if (text?.trim() === '') continue;
    const original = { line, text: text ?? bytes };
    const parsed = text === undefined ? { fault: notUtf8 } : parseRow(text);
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
