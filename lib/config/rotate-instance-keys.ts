import { generatePrivateKey, readPrivateKey } from '#lib/config/private-key.ts';
import { readSecretFile, replaceSecretFile } from '#lib/config/secret-files.ts';
import { StartupError } from '#lib/errors/startup-error.ts';

/** A part is on its way for 30 days at most, and a day more it may take until every peer has the key that came after. */
const neededDays = 31;
/** A self-description has 16 keys at most (docs/federation.md, "Who an instance is"). */
const mostKeys = 16;

const signingFile = 'instance-signing';
const sealingFile = 'instance-sealing';

/** What has become of the keys: thumbprints. */
export interface Rotation {
  signing: string;
  sealing: string;
  /** Sealing keys that nobody needs any more. */
  dropped: string[];
}

/**
 * Puts a new signing key and a new sealing key before those that are there. Old sealing keys stay while something sealed to them can be on its
 * way; old signing keys stay, because receipts are verified with them and the oldest vouches for the others.
 * @throws StartupError if there are no keys, or too many.
 */
export async function rotateInstanceKeys(folder: string, now: Date): Promise<Rotation> {
  const [signing, sealing] = await Promise.all([
    readEntries(folder, signingFile),
    readEntries(folder, sealingFile),
  ]);
  const needed = sealing.filter((_, index) => !isOver(sealing[index - 1], now));
  if (signing.length + needed.length + 2 > mostKeys)
    throw new StartupError(
      `An instance shows ${mostKeys} keys at most: take the last lines of ${signingFile} away when no receipt that they have signed has to be verified any more, and every peer knows a later one.`,
    );
  const newSigning = drawEntry(now);
  const newSealing = drawEntry(now);
  // Sealing first: if the other fails, there is one key more than needed, and nobody is told of it in vain.
  await replaceSecretFile(folder, sealingFile, [newSealing, ...needed]);
  await replaceSecretFile(folder, signingFile, [newSigning, ...signing]);
  return {
    signing: kidOf(newSigning),
    sealing: kidOf(newSealing),
    dropped: sealing.filter((entry) => !needed.includes(entry)).map(kidOf),
  };
}

async function readEntries(folder: string, file: string): Promise<string[]> {
  const entries = await readSecretFile(folder, file);
  if (!entries || entries.length === 0)
    throw new StartupError(`There is no ${file} in ${folder}: the instance has not been started yet.`);
  for (const [index, entry] of entries.entries()) {
    try {
      readPrivateKey(entry);
    } catch (error) {
      throw new StartupError(`${file}, entry ${index + 1}: ${(error as Error).message}`);
    }
  }
  return entries;
}

/** `iat`: since when the one after it is not the first any more. */
function drawEntry(now: Date): string {
  const iat = Math.floor(now.getTime() / 1000);
  return JSON.stringify({ ...(JSON.parse(generatePrivateKey()) as object), iat });
}

/** @param next the entry that has taken its place; the first has none. */
function isOver(next: string | undefined, now: Date): boolean {
  const since = next && (JSON.parse(next) as { iat?: unknown }).iat;
  return typeof since === 'number' && since * 1000 < now.getTime() - neededDays * 86_400_000;
}

function kidOf(entry: string): string {
  return readPrivateKey(entry).kid;
}
