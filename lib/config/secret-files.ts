import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, open, readFile, rename, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '#lib/errors/startup-error.ts';

/** The entries of a secret, one a line; undefined if it has no file. @throws StartupError if the file cannot be read. */
export async function readSecretFile(folder: string, file: string): Promise<string[] | undefined> {
  try {
    const text = await readFile(path.join(folder, file), 'utf8');
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new StartupError(`The secret ${path.join(folder, file)} cannot be read (${code}).`, {
      cause: error,
    });
  }
}

/** Whether the group or others may read, write or execute the file of a secret (its mode is wider than 0600). */
export async function isOpenToOthers(folder: string, file: string): Promise<boolean> {
  const { mode } = await stat(path.join(folder, file));
  return (mode & 0o077) !== 0;
}

/**
 * Writes a secret that had no file, for the owner alone. A file appears whole or not at all, and of two starts at once
 * both use the one that was first: `link` fails where `rename` would replace.
 * @returns the entries that are now in the file.
 */
export async function createSecretFile(folder: string, file: string, entry: string): Promise<string[]> {
  const target = path.join(folder, file);
  const draft = `${target}.${randomUUID()}.new`;
  try {
    if (await mkdir(folder, { recursive: true, mode: 0o700 })) await chmod(folder, 0o700);
    await writeDurably(draft, `${entry}\n`);
    await link(draft, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await unlink(draft);
    await syncFolder(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartupError(`The secret ${target} (SECRETS_DIR) cannot be written (${code}).`, {
      cause: error,
    });
  }
  return (await readSecretFile(folder, file)) ?? [];
}

/** Writes all entries of a secret anew, for the owner alone. Whoever reads it meanwhile gets the old ones or the new ones. */
export async function replaceSecretFile(
  folder: string,
  file: string,
  entries: readonly string[],
): Promise<void> {
  const target = path.join(folder, file);
  const draft = `${target}.${randomUUID()}.new`;
  try {
    await writeDurably(draft, `${entries.join('\n')}\n`);
    await rename(draft, target);
    await syncFolder(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StartupError(`The secret ${target} cannot be written (${code}).`, { cause: error });
  }
}

async function writeDurably(file: string, content: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
