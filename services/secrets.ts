import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { createSecretFile, readSecretFile, replaceSecretFile } from '#lib/config/secret-files.ts';
import { loadSecrets } from '#lib/config/secrets.ts';
import { generateSharedSecret } from '#lib/config/shared-secret.ts';
import { StartupError } from '#lib/errors/startup-error.ts';
import { allCallers, databasePasswords, secretShares } from './secret-shares.ts';

// `npm run secrets -- <folder> [<folder of shares>]`: makes what services that run as processes of their own need, for the owner alone
// (0600). Existing secrets stay as they are. With a second folder, each program gets a folder of its own there, with copies of the secrets
// that it reads and no others.
const [folder, shares, ...rest] = process.argv.slice(2);
try {
  if (!folder || rest.length > 0)
    throw new StartupError('Usage: npm run secrets -- <folder> [<folder of shares>]');
  await loadSecrets({ folder, callers: allCallers, generate: true });
  // Of the roles that `npm run migrate` makes, and of the owner who runs it.
  for (const file of databasePasswords) await makePassword(folder, file);
  process.stdout.write(`Every secret is in ${folder}.\n`);
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

/** Copies secrets, and removes what the program does not read any more. */
async function writeShare(from: string, to: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const entries = (await readSecretFile(from, file)) ?? [];
    const copied = (await readSecretFile(to, file)) ?? (await createSecretFile(to, file, entries.join('\n')));
    if (copied.join('\n') !== entries.join('\n')) await replaceSecretFile(to, file, entries);
  }
  for (const file of await readdir(to))
    if (!files.includes(file)) await rm(path.join(to, file), { recursive: true });
}
