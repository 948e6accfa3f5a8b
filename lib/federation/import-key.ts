import { type CryptoKey, importJWK, type JWK } from 'jose';
import { LRUCache } from 'lru-cache';

type Imported = ReturnType<typeof importJWK>;

/** Own keys are always the same objects; peers' come from the database each time. */
const own = new WeakMap<JWK, Imported>();
const pinned = new LRUCache<string, Imported>({ max: 500 });

/** Makes a key ready for use, once: that takes as long as a signature. */
export async function importKey(jwk: JWK, alg: string): Promise<CryptoKey | Uint8Array> {
  const name = `${alg} ${jwk.crv} ${jwk.x} ${jwk.y}`;
  const known = jwk.d === undefined ? pinned.get(name) : own.get(jwk);
  if (known) return known;
  const imported = importJWK(jwk, alg);
  if (jwk.d === undefined) pinned.set(name, imported);
  else own.set(jwk, imported);
  return imported;
}
