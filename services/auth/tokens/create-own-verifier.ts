import { createLocalJWKSet, jwtVerify } from 'jose';
import { type PrivateKey, publicPart } from '#lib/config/private-key.ts';
import { isDemoAccount } from '../domain/demo-accounts.ts';
import { tokenPrincipal } from '../domain/token-principal.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** Claims of our own tokens, whatever OIDC_ROLE_CLAIM says of an outside issuer's. */
const paths = { roles: 'roles', subject: 'preferred_username' };

/** Verifies the built-in issuer's access tokens (RFC 9068) with its keys at hand. Tokens of demo accounts are good in demo mode alone. */
export function createOwnVerifier({
  issuer,
  audience,
  keys,
  demo,
}: {
  issuer: string;
  audience: string;
  keys: readonly PrivateKey[];
  demo: boolean;
}): TokenVerifier {
  const keySet = createLocalJWKSet({
    keys: keys.map((key) => ({ ...publicPart(key), alg: 'ES256', use: 'sig' })),
  });
  const options = {
    issuer,
    audience,
    algorithms: ['ES256'],
    typ: 'at+jwt',
    requiredClaims: ['sub', 'exp', 'iat'],
  };
  return {
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, keySet, options);
        if (!demo && isDemoAccount(String(payload.sub))) return { valid: false };
        return { valid: true, principal: tokenPrincipal(payload, paths) };
      } catch {
        return { valid: false };
      }
    },
  };
}
