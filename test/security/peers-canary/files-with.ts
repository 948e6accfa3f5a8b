import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** The files below a folder in which a text is, as it is or in base64. */
export async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    // A database replaces files while they are listed.
    const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (bytes && holds(bytes, text)) found.push(path.relative(folder, file));
  }
  return found;
}

/**
 * Base64 of a text that stands somewhere in another one: three ways, by where it begins, without the letters
 * that its neighbours have part in.
 */
function traces(text: string): string[] {
  return [0, 1, 2].map((before) =>
    Buffer.from('x'.repeat(before) + text)
      .toString('base64url')
      .slice(before === 0 ? 0 : before + 1, -3),
  );
}

/** @param text of at least ten bytes: shorter traces occur by chance in many megabytes of base64. */
export function holds(bytes: Buffer, text: string): boolean {
  return [text, ...traces(text)].some((trace) => bytes.includes(trace));
}
