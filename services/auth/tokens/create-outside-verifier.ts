import { decodeJwt, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Logger } from '#lib/observability/logger.ts';
import { type ClaimPaths, tokenPrincipal } from '../domain/token-principal.ts';
import { createKeySource, IssuerUnreachable, type KeyTimes } from './create-key-source.ts';
import { fetchIssuerKeys } from './fetch-issuer-keys.ts';
import type { TokenVerifier } from './token-verifier.ts';

/** Public-key algorithms alone: with one that shares a secret, the public key itself would forge tokens (RFC 8725 §3.1). */
const algorithms = [
  'ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512', 'EdDSA', 'Ed25519',
]; // biome-ignore format: one glance

/** Types of a JWT that is an access token; many issuers name none, or the general one. */
const accessTokenTypes = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

/** Verifies access tokens of an outside issuer (OIDC_ISSUER). @param audience a token must be meant for it; null: any of the issuer's tokens will do. */
export function createOutsideVerifier({
  issuer,
  audience,
  paths,
  log,
  times,
  fetchKeys = () => fetchIssuerKeys(issuer),
}: {
  issuer: string;
  audience: string | null;
  paths: ClaimPaths;
  log: Logger;
  times?: KeyTimes;
  fetchKeys?: () => Promise<JSONWebKeySet>;
}): TokenVerifier {
  const keys = createKeySource({ fetchKeys, log, times });
  if (audience === null)
    log.warn('OIDC_AUDIENCE is not set: tokens that the issuer made for others are taken too');
  const names = [issuer, `${issuer}/`];
  const options = {
    issuer: names,
    ...(audience === null ? {} : { audience }),
    algorithms,
    requiredClaims: ['exp'],
    clockTolerance: 5,
  };
  return {
    async verify(token) {
      try {
        // Another's token: its key is not worth a look at the issuer.
        if (!names.includes(String(decodeJwt(token).iss))) return { valid: false };
        const { payload, protectedHeader } = await jwtVerify(token, keys, options);
        if (!accessTokenTypes.has(protectedHeader.typ?.toLowerCase())) return { valid: false };
        return { valid: true, principal: tokenPrincipal(payload, paths) };
      } catch (error) {
        return error instanceof IssuerUnreachable
          ? { valid: 'unknown', cause: error.cause }
          : { valid: false };
      }
    },
  };
}
