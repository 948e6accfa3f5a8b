import type { JWK } from 'jose';
import type { SignatureAlgorithm } from '#lib/jose/jws.ts';

/** The one algorithm that a public signing key is for: a token does not choose. undefined for keys of other kinds. */
export function algorithmOf(key: JWK): SignatureAlgorithm | undefined {
  if (key.kty === 'EC' && key.crv === 'P-256') return 'ES256';
  if (key.kty === 'OKP' && key.crv === 'Ed25519') return 'EdDSA';
  return undefined;
}
