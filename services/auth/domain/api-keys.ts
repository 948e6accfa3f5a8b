import { createHmac, createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Role } from '#lib/contracts/principal.ts';

/**
 * OWNER: calls the API like an operator. PEER: pairs with one peer, once. DECISION: asks for decisions
 * (docs/interface.md, "Credentials").
 */
export const keyScopes = ['OWNER', 'PEER', 'DECISION'] as const;
export type KeyScope = (typeof keyScopes)[number];

const creators: Readonly<Record<KeyScope, readonly Role[]>> = {
  OWNER: ['admin'],
  PEER: ['admin', 'technician'],
  DECISION: ['admin'],
};

/**
 * The scopes of the keys that a caller may create. Keys of the scopes OWNER and DECISION tell what people
 * have answered, which a technician may not read and so gives to nobody (docs/roles.md).
 */
export function creatableScopes(roles: readonly Role[]): KeyScope[] {
  return keyScopes.filter((scope) => creators[scope].some((role) => roles.includes(role)));
}

/** A key of scope PEER must be used within this time. */
export const pairingKeyDays = 7;

const pattern = /^acc_([0-9a-f]{32})_[0-9A-Za-z]{43}_([0-9A-Za-z]{6})$/;

/** Creates a key `acc_<id>_<43 base62>_<checksum>` (docs/security.md, "API keys"). @param id a UUID. */
export function drawApiKey(id: string): string {
  const body = `acc_${id.replaceAll('-', '')}_${base62(randomBytes(32), 43)}`;
  return `${body}_${checksum(body)}`;
}

/** The beginning of a key, by which its owner recognises it. @param id of the key. */
export function keyHint(id: string): string {
  return `acc_${id.replaceAll('-', '').slice(0, 16)}`;
}

/** Whether a text has the prefix of an API key, valid or not. */
export function resemblesApiKey(text: string): boolean {
  return text.startsWith('acc_');
}

/** Reads the id (a UUID) of a well-formed key. @returns undefined for anything else. */
export function readApiKeyId(key: string): string | undefined {
  const [, id, sum] = pattern.exec(key) ?? [];
  if (!id || sum !== checksum(key.slice(0, key.lastIndexOf('_')))) return undefined;
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function checksum(body: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return base62(bytes, 6);
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Encodes bytes as a number in base 62, padded with zeros to `length` digits. */
export function base62(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  while (rest > 0n) {
    text = digits[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text.padStart(length, '0');
}

/** HMAC-SHA-256 for random secrets, which need no slow hash (docs/security.md, "API keys"). */
export interface KeyedHash {
  hash(secret: string): Buffer;
  /** Compares in constant time. Without a stored hash it takes as long and returns false. */
  matches(secret: string, stored: Uint8Array | undefined): boolean;
}

/** @param peppers `key-pepper`: the first hashes, all verify. */
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
