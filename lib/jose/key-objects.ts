import { createPrivateKey, createPublicKey, type JsonWebKeyInput, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';

/** What is read of a public key (RFC 7518 §6.2.1, RFC 8037 §2). */
export type PublicJwk = Pick<JWK, 'kty' | 'crv' | 'x' | 'y'> | null | undefined;

/**
 * A signature of JWS has the integers r and s side by side (RFC 7518 §3.4). Said by the key itself: of any other object Node.js finds out
 * that it is no key by exceptions of its own, which take half as long as the signature.
 */
const signing = { dsaEncoding: 'ieee-p1363' } as const;
export type SigningKey = KeyObject & typeof signing;

const own = new WeakMap<JWK, SigningKey>();

/** An instance's private key, always the same object, made ready for use once: that takes as long as a signature. */
export function privateKeyOf(jwk: JWK): SigningKey {
  const key =
    own.get(jwk) ?? Object.assign(createPrivateKey({ key: jwk, format: 'jwk' } as JsonWebKeyInput), signing);
  own.set(jwk, key);
  return key;
}

const pinned = new LRUCache<string, SigningKey>({ max: 500 });

/** A peer's public key, which comes from the database each time, made ready for use once. @throws Error if it is none. */
export function publicKeyOf(jwk: JWK): SigningKey {
  const name = [jwk.kty, jwk.crv, jwk.x, jwk.y].join(' ');
  const key = pinned.get(name) ?? readPublicKey(jwk);
  if (!key) throw new Error('A public key is none on P-256, and none for Ed25519.');
  pinned.set(name, key);
  return key;
}

/**
 * @returns undefined if it is no point of the curve P-256 (agreeing with others would give a private key away, bit by bit), and no key for
 * Ed25519.
 */
export function readPublicKey(jwk: PublicJwk): SigningKey | undefined {
  const { kty, crv, x, y } = jwk ?? {};
  const isP256 = kty === 'EC' && crv === 'P-256';
  if (!isP256 && !(kty === 'OKP' && crv === 'Ed25519')) return undefined;
  const key = isP256 ? { kty, crv, x, y } : { kty, crv, x };
  const { stackTraceLimit } = Error;
  // No exception is shown to anybody, and those by which Node.js finds out what it was given (see above) take longer than the rest.
  Error.stackTraceLimit = 0;
  try {
    // OpenSSL refuses points that are not on the curve.
    return Object.assign(createPublicKey({ key, format: 'jwk' } as JsonWebKeyInput), signing);
  } catch {
    return undefined;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
