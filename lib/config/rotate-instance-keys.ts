import { readSecretFile, replaceSecretFile } from '#lib/config/secret-files.ts';
import { generatePrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
import { StartupError } from '#lib/errors/fail.ts';

/**
 * Answers may be sealed to a key for 30 days after it was replaced, while a peer cannot renew its copy of the
 * catalogue (the default of PEER_STALE_LIMIT). A part may then wait 90 days for a code and is retried for 30.
 * Two days allow for the restart that publishes the next key, and for differences between clocks.
 */
const neededDays = 30 + 90 + 30 + 2;
/** The maximum of a self-description (docs/federation.md, "Who an instance is"). */
const mostKeys = 16;

const signingFile = 'instance-signing';
const sealingFile = 'instance-sealing';

/** The result of a rotation, as thumbprints. */
export interface Rotation {
  signing: string;
  sealing: string;
  /** Sealing keys that were removed. */
  dropped: string[];
}

/**
 * Puts a new signing key and a new sealing key before the existing ones. Old sealing keys stay until no part
 * sealed to them can arrive. Old signing keys stay: receipts are verified with them, and the oldest certifies
 * the others.
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
      `An instance may publish ${mostKeys} keys: remove the last lines of ${signingFile} once no receipt signed with them has to be verified and every peer knows a later key.`,
    );
  const newSigning = drawEntry(now);
  const newSealing = drawEntry(now);
  // Sealing first: if the second write fails, there is only a spare key that is not published yet.
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
    throw new StartupError(`There is no ${file} in ${folder}: start the instance once to create it.`);
  for (const [index, entry] of entries.entries()) {
    try {
      readPrivateKey(entry);
    } catch (error) {
      throw new StartupError(`${file}, entry ${index + 1}: ${(error as Error).message}`);
    }
  }
  return entries;
}

/** `iat` is when the key replaced the one after it. */
function drawEntry(now: Date): string {
  const iat = Math.floor(now.getTime() / 1000);
  return JSON.stringify({ ...(JSON.parse(generatePrivateKey()) as object), iat });
}

/** @param next the entry that replaced this one; undefined for the current one. */
function isOver(next: string | undefined, now: Date): boolean {
  const since = next && (JSON.parse(next) as { iat?: unknown }).iat;
  return typeof since === 'number' && since * 1000 < now.getTime() - neededDays * 86_400_000;
}

function kidOf(entry: string): string {
  return readPrivateKey(entry).kid;
}
