import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { drawBytes } from '#lib/ids/random-ids.ts';
import { createCompactJws } from '#lib/jose/jws.ts';
import type { TokenClaims, TokenUse, TransactionTokens } from './links.ts';

const type = 'accord-tx+jwt';

const algorithm = 'HS256';

/** A token with a valid signature; its expiry is checked at each use. */
type VerifiedToken = TokenClaims & { exp: number };

/** About 500 bytes each. */
const maxVerified = 5_000;

/**
 * Mints and verifies transaction tokens (docs/interface.md, "Credentials").
 * @param secrets the first signs, all verify, so that a secret can be rotated.
 * @param baseUrl issuer and audience.
 */
export function createTransactionTokens({
  secrets,
  baseUrl,
  now = () => Date.now(),
}: {
  secrets: readonly Uint8Array[];
  baseUrl: string;
  now?: () => number;
}): TransactionTokens {
  const keys = new Map(secrets.map((secret) => [keyId(secret), createSecretKey(secret)]));
  const [signing] = keys;
  if (!signing) throw new Error('transaction tokens need a secret');
  const [kid, key] = signing;
  const write = createCompactJws({ alg: algorithm, typ: type, kid }, (input) =>
    createHmac('sha256', key).update(input).digest(),
  );
  // A browser returns with the token of its last page; its signature need not be verified again.
  const verified = new LRUCache<string, VerifiedToken>({ max: maxVerified });
  return {
    mint({ id, use, epoch, gpc }: TokenClaims, expiresAt: Date): string {
      const exp = Math.ceil(expiresAt.getTime() / 1000);
      const times = { iat: Math.floor(now() / 1000), exp };
      const jti = drawBytes().toString('base64url');
      const signal = gpc ? { gpc } : {};
      const payload = { use, ep: epoch, ...signal, iss: baseUrl, aud: baseUrl, sub: id, jti, ...times };
      const token = write(JSON.stringify(payload));
      verified.set(token, { id, use, epoch, ...signal, exp });
      return token;
    },
    async verify(token: string): Promise<TokenClaims | undefined> {
      const remembered = verified.get(token);
      const claims = remembered ?? (await readToken(token, keys, baseUrl).catch(() => undefined));
      if (!claims) return undefined;
      if (!remembered) verified.set(token, claims);
      const { exp, ...valid } = claims;
      if (exp > Math.floor(now() / 1000)) return valid;
      const { id, use, epoch } = claims;
      return use === 'tx' ? { id, use: 'receipt', epoch, isExpired: true } : undefined;
    },
  };
}

interface WrittenClaims {
  sub: string;
  use: TokenUse;
  ep: number;
  exp: number;
  gpc: boolean;
}

/** Verifies a token except for its expiry. Throws or returns undefined for an invalid one. */
async function readToken(
  token: string,
  keys: ReadonlyMap<string, KeyObject>,
  baseUrl: string,
): Promise<VerifiedToken | undefined> {
  const keyOf = ({ kid = '' }: { kid?: string }) => {
    const key = keys.get(kid);
    if (!key) throw new Error('unknown key');
    return key;
  };
  const { payload } = await jwtVerify(token, keyOf, {
    algorithms: [algorithm],
    typ: type,
    issuer: baseUrl,
    audience: baseUrl,
    requiredClaims: ['exp'],
    clockTolerance: Number.MAX_SAFE_INTEGER,
  });
  const { sub, use, ep, gpc, exp = 0 } = payload as Partial<WrittenClaims>;
  if (sub === undefined || ep === undefined || (use !== 'tx' && use !== 'receipt')) return undefined;
  return { id: sub, use, epoch: ep, exp, ...(gpc === true && { gpc }) };
}

/** Identifies a secret without revealing it. */
function keyId(secret: Uint8Array): string {
  return createHash('sha256')
    .update('accord transaction token')
    .update(secret)
    .digest('base64url')
    .slice(0, 8);
}
