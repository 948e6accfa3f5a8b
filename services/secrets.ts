import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { createSecretFile, readSecretFile, replaceSecretFile } from '#lib/config/secret-files.ts';
import { generateSharedSecret } from '#lib/config/secret-values.ts';
import { loadSecrets } from '#lib/config/secrets.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { allCallers, databasePasswords, secretShares } from './definitions.ts';

// `npm run secrets -- <folder> [<folder of shares>]`: generates the missing secrets of a distributed
// instance, readable by their owner only (0600). In a second folder it creates a subfolder for each program
// with copies of the secrets that it reads.
const [folder, shares, ...rest] = process.argv.slice(2);
try {
  if (!folder || rest.length > 0)
    throw new StartupError('Usage: npm run secrets -- <folder> [<folder of shares>]');
  await loadSecrets({ folder, callers: allCallers, generate: true });
  for (const file of databasePasswords) await makePassword(folder, file);
  process.stdout.write(`All secrets are in ${folder}.\n`);
  if (shares) {
    for (const [program, files] of Object.entries(secretShares))
      await writeShare(folder, path.join(shares, program), files);
    process.stdout.write(`The secrets of each program are in ${shares}.\n`);
  }
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function makePassword(folder: string, file: string): Promise<void> {
  if (!(await readSecretFile(folder, file))) await createSecretFile(folder, file, generateSharedSecret());
}

/** Copies secrets and deletes those that the program no longer reads. */
async function writeShare(from: string, to: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const entries = (await readSecretFile(from, file)) ?? [];
    const copied = (await readSecretFile(to, file)) ?? (await createSecretFile(to, file, entries.join('\n')));
    if (copied.join('\n') !== entries.join('\n')) await replaceSecretFile(to, file, entries);
  }
  for (const file of await readdir(to))
    if (!files.includes(file)) await rm(path.join(to, file), { recursive: true });
}
