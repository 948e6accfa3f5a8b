import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/** Beside the packages: write access there already allows changing the code. */
export const keptTexts = new URL('../../node_modules/.cache/accord/', import.meta.url);

/**
 * Caches a text that is expensive to make on disk, across starts. The image contains those of all services. A
 * text that is missing is made, and made each time if the folder is read-only.
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
    return readFileSync(new URL(file, keptTexts), 'utf8');
  } catch {
    const text = make();
    write(name, file, text);
    return text;
  }
}

function write(name: string, file: string, text: string): void {
  try {
    mkdirSync(keptTexts, { recursive: true });
    const outdated = readdirSync(keptTexts).filter((each) => each.startsWith(`${name}.`) && each !== file);
    const unfinished = new URL(`${file}.${process.pid}`, keptTexts);
    writeFileSync(unfinished, text);
    // Atomic for concurrent readers.
    renameSync(unfinished, new URL(file, keptTexts));
    for (const each of outdated) rmSync(new URL(each, keptTexts), { force: true });
  } catch {
    // Read-only folder or full disk: the next start makes the text again.
  }
}
