import { createLocalJWKSet, decodeJwt, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { type PrivateKey, publicPart } from '#lib/config/secret-values.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { isDemoAccount } from '../domain/accounts.ts';
import type { TokenVerdict } from '../domain/credentials.ts';
import { type ClaimPaths, tokenPrincipal } from '../domain/token-principal.ts';
import {
  createKeySource,
  fetchIssuerKeys,
  IssuerUnreachable,
  type KeyTimes,
  withoutSlash,
} from './issuer-keys.ts';

/** Verifies access tokens. Does not throw for bad ones. */
export interface TokenVerifier {
  /** @param isLasting whether the account must be what it was when the token was issued. */
  verify(token: string, isLasting?: boolean): Promise<TokenVerdict>;
}

/** Claims of the built-in issuer's tokens. */
const paths = { roles: 'roles', subject: 'preferred_username' };

/** Whether the account or client of a verified token is what it was when the token was issued. */
export type IsUnchanged = (claims: JWTPayload) => Promise<boolean>;

/**
 * Verifies the built-in issuer's access tokens (RFC 9068). Those of demo accounts are valid only in demo
 * mode.
 */
export function createOwnVerifier({
  issuer,
  audience,
  keys,
  demo,
  isUnchanged,
}: {
  issuer: string;
  audience: string;
  keys: readonly PrivateKey[];
  demo: boolean;
  isUnchanged: IsUnchanged;
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
    async verify(token, isLasting = false) {
      const verified = await jwtVerify(token, keySet, options).catch(() => undefined);
      if (!verified) return { valid: false };
      const { payload } = verified;
      if (!demo && isDemoAccount(String(payload.sub))) return { valid: false };
      if (isLasting && !(await isUnchanged(payload))) return { valid: false, isChanged: true };
      return { valid: true, principal: tokenPrincipal(payload, paths) };
    },
  };
}

/** Only public-key algorithms: with HMAC, the public key could be used to forge tokens (RFC 8725 §3.1). */
const algorithms = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
  'EdDSA',
  'Ed25519',
];

/** Accepted `typ` values; many issuers send none or the generic one. */
const accessTokenTypes = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

/**
 * Verifies access tokens of an outside issuer (OIDC_ISSUER). @param audience required audience; null accepts
 * any.
 */
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
    log.warn('OIDC_AUDIENCE is not set; tokens for any audience of the issuer are accepted');
  const names = [withoutSlash(issuer), `${withoutSlash(issuer)}/`];
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
        // A token of another issuer must not cause a fetch.
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
