import { createHash } from 'node:crypto';
import { jwtVerify, SignJWT } from 'jose';
import { randomId } from './random-id.ts';

const type = 'accord-tx+jwt';
const algorithm = 'HS256';
const dayMs = 24 * 60 * 60 * 1000;

/** What a transaction token allows: `tx` all that its subject may do; `receipt` the final page, the receipt and the child. */
export type TokenUse = 'tx' | 'receipt';

export interface TokenClaims {
  /** Transaction id. */
  id: string;
  use: TokenUse;
  epoch: number;
}

/** Makes and reads transaction tokens (decisions.md §7; security.md). */
export interface TransactionTokens {
  mint(claims: TokenClaims, expiresAt: Date): Promise<string>;
  /** @returns undefined for anything that is not a valid token of ours. */
  verify(token: string): Promise<TokenClaims | undefined>;
}

/**
 * @param secrets the first signs, all verify, so that a secret can be rotated.
 * @param baseUrl issuer and audience: a token of another instance is none of ours.
 */
export function createTransactionTokens({
  secrets,
  baseUrl,
  now = Date.now,
}: {
  secrets: readonly Uint8Array[];
  baseUrl: string;
  now?: () => number;
}): TransactionTokens {
  const keys = secrets.map((secret) => ({ kid: keyId(secret), secret }));
  const signing = keys[0];
  if (!signing) throw new Error('a transaction token needs a secret');
  return {
    mint: ({ id, use, epoch }, expiresAt) =>
      new SignJWT({ use, ep: epoch })
        .setProtectedHeader({ alg: algorithm, typ: type, kid: signing.kid })
        .setIssuer(baseUrl)
        .setAudience(baseUrl)
        .setSubject(id)
        .setJti(randomId())
        .setIssuedAt(Math.floor(now() / 1000))
        .setExpirationTime(Math.ceil(expiresAt.getTime() / 1000))
        .sign(signing.secret),
    async verify(token) {
      try {
        const { payload } = await jwtVerify(
          token,
          ({ kid }) => {
            const key = keys.find((candidate) => candidate.kid === kid);
            if (!key) throw new Error('unknown key');
            return key.secret;
          },
          {
            algorithms: [algorithm],
            typ: type,
            issuer: baseUrl,
            audience: baseUrl,
            currentDate: new Date(now()),
          },
        );
        const { sub, use, ep } = payload as { sub?: string; use?: TokenUse; ep?: number };
        if (sub === undefined || ep === undefined || (use !== 'tx' && use !== 'receipt')) return undefined;
        return { id: sub, use, epoch: ep };
      } catch {
        return undefined;
      }
    },
  };
}

/** Names a secret without telling it. */
function keyId(secret: Uint8Array): string {
  return createHash('sha256')
    .update('accord transaction token')
    .update(secret)
    .digest('base64url')
    .slice(0, 8);
}

/**
 * When a token minted now ends: while the transaction is open its deadline and a day, so that the expired page can offer a
 * restart; in a final state a day from now (decisions.md §7).
 */
export function tokenExpiry({ open, expiresAt, now }: { open: boolean; expiresAt: Date; now: Date }): Date {
  return new Date((open ? expiresAt : now).getTime() + dayMs);
}
