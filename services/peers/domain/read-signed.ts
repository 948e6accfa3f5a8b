import type { JWK } from 'jose';
import { parseObject, provePayload, readCompactJws } from '#lib/jose/jws.ts';
import { algorithmOf } from './key-algorithm.ts';

/** Why something signed does not count, in the order in which it is looked at. */
export type SignedFault = 'size' | 'form' | 'algorithm' | 'unknown-key' | 'signature' | 'claims';

export type ReadSigned = { claims: Record<string, unknown> } | { fault: SignedFault };

/**
 * Reads a JWS that a peer has signed. A key that nobody pinned costs no signature check, and a token does not choose its algorithm.
 * @param options.signing the pinned signing keys of that peer, and nobody else's. @param options.longest in characters.
 */
export function readSigned(
  jws: string,
  {
    type,
    longest,
    signing,
  }: { type: string; longest: number; signing: readonly { kid: string; jwk: JWK }[] },
): ReadSigned {
  if (jws.length > longest) return { fault: 'size' };
  const read = readCompactJws(jws);
  if (!read) return { fault: 'form' };
  const { header } = read;
  if (header.typ !== type || header.crit !== undefined) return { fault: 'algorithm' };
  const key = signing.find(({ kid }) => kid === header.kid);
  if (!key) return { fault: 'unknown-key' };
  const alg = algorithmOf(key.jwk);
  if (alg === undefined || alg !== header.alg) return { fault: 'algorithm' };
  const payload = provePayload(read, key.jwk, alg);
  if (!payload) return { fault: 'signature' };
  const claims = parseObject(payload);
  return claims ? { claims } : { fault: 'claims' };
}
