import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Beside the packages: who may write there decides what runs here anyway. */
const folder = new URL('../../node_modules/.cache/accord/', import.meta.url);

/**
 * Keeps a text that is costly to make from one start to the next. Where nothing can be written it is made at each start.
 * @param name tells texts apart; an older one of the same name is removed.
 * @param sources everything that the text depends on.
 */
export function keepText({
  name,
  sources,
  make,
}: {
  name: string;
  sources: readonly string[];
  make: () => string;
}): string {
  const digest = createHash('sha256').update(JSON.stringify(sources)).digest('hex').slice(0, 32);
  const file = `${name}.${digest}`;
  try {
    return readFileSync(new URL(file, folder), 'utf8');
  } catch {
    const text = make();
    write(name, file, text);
    return text;
  }
}

function write(name: string, file: string, text: string): void {
  try {
    mkdirSync(folder, { recursive: true });
    const outdated = readdirSync(folder).filter((each) => each.startsWith(`${name}.`) && each !== file);
    const unfinished = new URL(`${file}.${process.pid}`, folder);
    writeFileSync(unfinished, text);
    // Whole or not at all, whoever reads meanwhile.
    renameSync(unfinished, new URL(file, folder));
    for (const each of outdated) rmSync(new URL(each, folder), { force: true });
  } catch {
    // A folder that is read-only, or a full disk: the next start makes the text again.
  }
}
