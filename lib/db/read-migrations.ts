import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '#lib/errors/fail.ts';

/** One step of a schema, as its file says it. */
export interface Migration {
  version: number;
  file: string;
  text: string;
  checksum: string;
}

/** Reads a folder of `NNNN_what.sql`, numbered from 0001 without gaps. @throws StartupError if a file is misnamed. */
export async function readMigrations(folder: string): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const version = Number(/^(\d{4})_[a-z0-9_-]+\.sql$/.exec(file)?.[1]);
      if (version !== index + 1)
        throw new StartupError(
          `The migration ${file} is misnamed: number ${String(index + 1).padStart(4, '0')} was expected.`,
        );
      const text = (await readFile(path.join(folder, file), 'utf8')).replaceAll('\r\n', '\n');
      return { version, file, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/** The version of a schema that this code needs: that of its last migration, 0 without any. */
export async function neededVersion(folder: string): Promise<number> {
  return (await readMigrations(folder)).length;
}
