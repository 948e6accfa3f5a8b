import { createPrivateKey, createPublicKey, type JsonWebKeyInput, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import { LRUCache } from 'lru-cache';

/** What is read of a public key on P-256 (RFC 7518 §6.2.1). */
export type PublicJwk = Pick<JWK, 'kty' | 'crv' | 'x' | 'y'> | null | undefined;

const own = new WeakMap<JWK, KeyObject>();

/** An instance's private key, always the same object, made ready for use once. */
export function privateKeyOf(jwk: JWK): KeyObject {
  const key = own.get(jwk) ?? createPrivateKey({ key: jwk, format: 'jwk' } as JsonWebKeyInput);
  own.set(jwk, key);
  return key;
}

const pinned = new LRUCache<string, KeyObject>({ max: 500 });

/** A peer's public key, which comes from the database each time, made ready for use once. @throws Error if it is none on P-256. */
export function publicKeyOf(jwk: JWK): KeyObject {
  const name = `${jwk.x} ${jwk.y}`;
  const key = pinned.get(name) ?? readPublicKey(jwk);
  if (!key) throw new Error('A sealing key is not on P-256.');
  pinned.set(name, key);
  return key;
}

/** @returns undefined if it is no point of the curve P-256: agreeing with others would give the private key away, bit by bit. */
export function readPublicKey(jwk: PublicJwk): KeyObject | undefined {
  if (typeof jwk !== 'object' || jwk === null || jwk.kty !== 'EC' || jwk.crv !== 'P-256') return undefined;
  const { kty, crv, x, y } = jwk;
  try {
    // OpenSSL refuses points that are not on the curve.
    return createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' } as JsonWebKeyInput);
  } catch {
    return undefined;
  }
}
