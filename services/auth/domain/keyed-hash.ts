import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/**
 * A keyed hash for secrets that are random themselves. Not scrypt or bcrypt: 256 random bits cannot be guessed, and slow hashes are a
 * free denial of service (security.md, "API keys").
 */
export interface KeyedHash {
  hash(secret: string): Buffer;
  /** Compares in constant time; without a stored hash it takes as long and is false. */
  matches(secret: string, stored: Uint8Array | undefined): boolean;
}

/** @param peppers kept outside the database; the first hashes, all verify. */
export function createKeyedHash(peppers: readonly Uint8Array[]): KeyedHash {
  const keys = peppers.map((pepper) => createSecretKey(pepper));
  const [first] = keys;
  if (!first) throw new Error('a keyed hash needs a pepper');
  const nothing = Buffer.alloc(32);
  const hashWith = (key: KeyObject, secret: string) => createHmac('sha256', key).update(secret).digest();
  return {
    hash: (secret) => hashWith(first, secret),
    matches(secret, stored) {
      const expected = stored?.length === nothing.length ? stored : nothing;
      let equal = false;
      for (const key of keys) equal = timingSafeEqual(hashWith(key, secret), expected) || equal;
      return equal && stored !== undefined;
    },
  };
}
