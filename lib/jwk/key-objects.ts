import { createPrivateKey, createPublicKey, type JsonWebKeyInput, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';

/** What is read of a public key (RFC 7518 §6.2.1, RFC 8037 §2). */
export type PublicJwk = Pick<JWK, 'kty' | 'crv' | 'x' | 'y'> | null | undefined;

const own = new WeakMap<JWK, KeyObject>();

/** An instance's private key, always the same object, made ready for use once: that takes as long as a signature. */
export function privateKeyOf(jwk: JWK): KeyObject {
  const key = own.get(jwk) ?? createPrivateKey({ key: jwk, format: 'jwk' } as JsonWebKeyInput);
  own.set(jwk, key);
  return key;
}

const pinned = new LRUCache<string, KeyObject>({ max: 500 });

/** A peer's public key, which comes from the database each time, made ready for use once. @throws Error if it is none. */
export function publicKeyOf(jwk: JWK): KeyObject {
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
export function readPublicKey(jwk: PublicJwk): KeyObject | undefined {
  const { kty, crv, x, y } = jwk ?? {};
  const isP256 = kty === 'EC' && crv === 'P-256';
  if (!isP256 && !(kty === 'OKP' && crv === 'Ed25519')) return undefined;
  const key = isP256 ? { kty, crv, x, y } : { kty, crv, x };
  try {
    // OpenSSL refuses points that are not on the curve.
    return createPublicKey({ key, format: 'jwk' } as JsonWebKeyInput);
  } catch {
    return undefined;
  }
}
