import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type JsonWebKeyInput,
  type KeyObject,
} from 'node:crypto';
import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';

/** Members of a public key (RFC 7518 §6.2.1, RFC 8037 §2). */
export type PublicJwk = Pick<JWK, 'kty' | 'crv' | 'x' | 'y'> | null | undefined;

/**
 * JWS signatures are r and s side by side (RFC 7518 §3.4). The option is set on the key itself. If an object
 * with a key and the option were passed, Node would throw and catch exceptions to find its type, which takes
 * half as long as a signature.
 */
const signing = { dsaEncoding: 'ieee-p1363' } as const;
export type SigningKey = KeyObject & typeof signing;

const own = new WeakMap<JWK, SigningKey>();

/**
 * Imports an instance's private key, once for each JWK object: importing takes as long as a signature.
 */
export function privateKeyOf(jwk: JWK): SigningKey {
  const key =
    own.get(jwk) ?? Object.assign(createPrivateKey({ key: jwk, format: 'jwk' } as JsonWebKeyInput), signing);
  own.set(jwk, key);
  return key;
}

const pinned = new LRUCache<string, SigningKey>({ max: 500 });

/**
 * Imports a peer's public key, once for all equal JWKs: the database returns a new object each time.
 * @throws Error if the key is not valid.
 */
export function publicKeyOf(jwk: JWK): SigningKey {
  const name = [jwk.kty, jwk.crv, jwk.x, jwk.y].join(' ');
  const key = pinned.get(name) ?? readPublicKey(jwk);
  if (!key) throw new Error('The public key is on neither P-256 nor Ed25519.');
  pinned.set(name, key);
  return key;
}

/**
 * Imports a public key. A point off the curve, with which a key agreement would leak the private key, is
 * refused by OpenSSL.
 * @returns undefined unless the key is a point on P-256, or a key for Ed25519.
 */
export function readPublicKey(jwk: PublicJwk): SigningKey | undefined {
  const { kty, crv, x, y } = jwk ?? {};
  const isP256 = kty === 'EC' && crv === 'P-256';
  if (!isP256 && !(kty === 'OKP' && crv === 'Ed25519')) return undefined;
  const key = isP256 ? { kty, crv, x, y } : { kty, crv, x };
  try {
    return Object.assign(createPublicKey({ key, format: 'jwk' } as JsonWebKeyInput), signing);
  } catch {
    return undefined;
  }
}

/** The RFC 7638 thumbprint of an elliptic curve key, its `kid`. @throws Error if a member is missing. */
export function keyThumbprint({ kty, crv, x, y }: JWK): string {
  const members = kty === 'OKP' ? { crv, kty, x } : { crv, kty, x, y };
  if (!Object.values(members).every((member) => typeof member === 'string'))
    throw new Error('The key is not an elliptic curve key.');
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url');
}
