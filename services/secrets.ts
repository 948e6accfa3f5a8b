import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { createSecretFile, readSecretFile, replaceSecretFile } from '#lib/config/secret-files.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { secretShares } from './definitions.ts';
import { generateSecrets } from './generate-secrets.ts';

// `npm run secrets -- <folder> [<folder of shares>]`: generates the missing secrets of a distributed
// instance, readable by their owner only (0600). In a second folder it creates a subfolder for each program
// with copies of the secrets that it reads.
const [folder, shares, ...rest] = process.argv.slice(2);
try {
  if (!folder || rest.length > 0)
    throw new StartupError('Usage: npm run secrets -- <folder> [<folder of shares>]');
  await generateSecrets(folder);
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
