import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSecretFile, readSecretFile } from '#lib/config/secret-files.ts';
import { generateSharedSecret } from '#lib/config/secret-values.ts';
import { loadSecrets } from '#lib/config/secrets.ts';
import { allCallers, databasePasswords, definitions, secretShares } from './definitions.ts';

/**
 * Generates the secrets of a distributed instance that are missing in a folder, readable by their owner only
 * (0600). Existing ones are checked and stay unchanged.
 * @throws StartupError that names every unusable one.
 */
export async function generateSecrets(folder: string): Promise<void> {
  await loadSecrets({ folder, callers: allCallers, generate: true });
  for (const file of databasePasswords)
    if (!(await readSecretFile(folder, file))) await createSecretFile(folder, file, generateSharedSecret());
}

/**
 * Generates the secrets that the services read and that are missing among the given ones.
 * @param given content by file name. @returns the generated ones.
 * @throws StartupError that names every given one that is unusable.
 */
export async function generateMissing(given: ReadonlyMap<string, string>): Promise<Map<string, string>> {
  const read = new Set(definitions.flatMap(({ name }) => secretShares[name] ?? []));
  const missing = [...read].filter((file) => !given.has(file));
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-secrets-'));
  try {
    for (const [file, text] of given) await createSecretFile(folder, file, text);
    await generateSecrets(folder);
    const contents = missing.map(async (file) => readFile(path.join(folder, file), 'utf8'));
    const texts = await Promise.all(contents);
    return new Map(missing.map((file, index) => [file, texts[index] as string]));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
