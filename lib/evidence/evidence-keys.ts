import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { JWK } from 'jose';
import {
  EvidenceFault,
  parseObject,
  type ReadObject,
  requireCanonical,
  requireMembers,
  unreadable,
} from '#lib/evidence/ndjson.ts';
import type { EvidenceKey } from '#lib/evidence/verify-jws.ts';
import { keyThumbprint, readPublicKey } from '#lib/jose/keys.ts';

/** The instance and the keys of `keys.json`. */
export interface FolderKeys {
  instance: string;
  /** By `kid`. */
  keys: ReadonlyMap<string, EvidenceKey>;
}

type PublicKey = JWK & { kid: string };

/** The order of keys in `keys.json`. */
export function byThumbprint(one: PublicKey, other: PublicKey): number {
  return one.kid < other.kid ? -1 : 1;
}

/**
 * A public signing key as `keys.json` has it. @returns undefined for a key of another kind.
 */
export function evidenceKey({ kty, crv, x, y }: JWK): PublicKey | undefined {
  if (!readPublicKey({ kty, crv, x, y })) return undefined;
  const key = kty === 'EC' ? { kty, crv, x, y, alg: 'ES256' } : { kty, crv, x, alg: 'EdDSA' };
  return { ...key, use: 'sig', kid: keyThumbprint(key) };
}

export function algorithmOf({ kty }: JWK): EvidenceKey['alg'] {
  return kty === 'EC' ? 'ES256' : 'EdDSA';
}

/**
 * Reads `keys.json`: every key must be for signatures, under its thumbprint.
 * @param trusted thumbprints from elsewhere, which every key must be among; undefined: the keys are of
 * unknown origin.
 * @throws EvidenceFault.
 */
export async function readFolderKeys(
  folder: string,
  trusted: ReadonlySet<string> | undefined,
): Promise<FolderKeys> {
  const read = await readObjectFile(path.join(folder, 'keys.json'));
  const { instance, keys } = read.value;
  if (!Array.isArray(keys) || keys.length === 0) throw new EvidenceFault('keys.json has no keys.');
  requireMembers(read, ['instance', 'keys']);
  if (typeof instance !== 'string') throw new EvidenceFault('keys.json: instance is not a URL.');
  const found = new Map<string, EvidenceKey>();
  for (const key of keys as (JWK | null)[]) {
    const expected = key === null ? undefined : evidenceKey(key);
    const kid = expected?.kid;
    if (!kid || canonicalKey(expected) !== canonicalKey(key) || found.has(kid))
      throw new EvidenceFault(
        `keys.json: the key ${key?.kid} is not a key for signatures under its own thumbprint.`,
      );
    if (trusted && !trusted.has(kid))
      throw new EvidenceFault(`keys.json: the key ${kid} is not among the keys from elsewhere.`);
    found.set(kid, { jwk: expected, alg: algorithmOf(expected) });
  }
  if ([...found.keys()].some((kid, index, kids) => kid < (kids[index - 1] ?? '')))
    throw new EvidenceFault('keys.json: the keys are not in the order of their thumbprints.');
  if (!read.text.endsWith('\n')) throw new EvidenceFault('keys.json: the line has no line feed.');
  requireCanonical({ ...read, text: read.text.slice(0, -1) });
  return { instance, keys: found };
}

/**
 * The thumbprints of trusted keys: of a file `{"keys": [JWK]}`, and further ones.
 * @returns undefined if none are given. @throws EvidenceFault.
 */
export async function readTrusted(
  file: string | undefined,
  thumbprints: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  if (file === undefined) return thumbprints.length > 0 ? new Set(thumbprints) : undefined;
  const { value, place } = await readObjectFile(file);
  if (!Array.isArray(value.keys) || value.keys.length === 0) throw new EvidenceFault(`${place} has no keys.`);
  const found = (value.keys as (JWK | null)[]).map((key) => key && evidenceKey(key)?.kid);
  return new Set([...thumbprints, ...found.filter((kid) => typeof kid === 'string')]);
}

async function readObjectFile(file: string): Promise<ReadObject> {
  const name = path.basename(file);
  const bytes = await readFile(file).catch((error: Error) => {
    throw unreadable(error, name);
  });
  return parseObject(bytes, name);
}

/** The text that two forms of a key have in common only if they are the same. */
export function canonicalKey(key: JWK | null): string {
  return JSON.stringify(Object.entries(key ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)));
}
