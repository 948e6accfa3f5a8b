import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Beside the packages: write access there already allows changing the code. */
const folder = new URL('../../node_modules/.cache/accord/', import.meta.url);

/**
 * Caches a text that is expensive to make on disk, across starts. If the folder is read-only, the text is
 * made each time.
 * @param name of the text; older versions of the same name are removed.
 * @param sources everything the text depends on.
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
    // Atomic for concurrent readers.
    renameSync(unfinished, new URL(file, folder));
    for (const each of outdated) rmSync(new URL(each, folder), { force: true });
  } catch {
    // Read-only folder or full disk: the next start makes the text again.
  }
}
