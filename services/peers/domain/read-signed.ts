import { compactVerify, decodeProtectedHeader, type JWK, type JWSHeaderParameters } from 'jose';
import { importKey } from '#lib/federation/import-key.ts';
import { algorithmOf } from './key-algorithm.ts';

/** Why something signed does not count, in the order in which it is looked at. */
export type SignedFault = 'size' | 'form' | 'algorithm' | 'unknown-key' | 'signature' | 'claims';

export type ReadSigned = { claims: Record<string, unknown> } | { fault: SignedFault };

/**
 * Reads a JWS that a peer has signed. A key that nobody pinned costs no signature check, and a token does not choose its algorithm.
 * @param options.signing the pinned signing keys of that peer, and nobody else's. @param options.longest in characters.
 */
export async function readSigned(
  jws: string,
  {
    type,
    longest,
    signing,
  }: { type: string; longest: number; signing: readonly { kid: string; jwk: JWK }[] },
): Promise<ReadSigned> {
  if (jws.length > longest) return { fault: 'size' };
  const header = readHeader(jws);
  if (!header) return { fault: 'form' };
  if (header.typ !== type || header.crit !== undefined) return { fault: 'algorithm' };
  const key = signing.find(({ kid }) => kid === header.kid);
  if (!key) return { fault: 'unknown-key' };
  const alg = algorithmOf(key.jwk);
  if (alg === undefined || alg !== header.alg) return { fault: 'algorithm' };
  const payload = await verify(jws, key.jwk, alg);
  if (!payload) return { fault: 'signature' };
  const claims = parse(payload);
  return claims ? { claims } : { fault: 'claims' };
}

function readHeader(jws: string): JWSHeaderParameters | undefined {
  try {
    return jws.split('.').length === 3 ? (decodeProtectedHeader(jws) as JWSHeaderParameters) : undefined;
  } catch {
    return undefined;
  }
}

async function verify(jws: string, key: JWK, alg: string): Promise<Uint8Array | undefined> {
  try {
    return (await compactVerify(jws, await importKey(key, alg), { algorithms: [alg] })).payload;
  } catch {
    return undefined;
  }
}

function parse(payload: Uint8Array): Record<string, unknown> | undefined {
  try {
    const claims: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(payload));
    const isObject = typeof claims === 'object' && claims !== null && !Array.isArray(claims);
    return isObject ? (claims as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
