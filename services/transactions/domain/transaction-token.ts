import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { drawBytes } from '#lib/ids/random-ids.ts';
import { createCompactJws } from '#lib/jose/jws.ts';
import type { Transaction } from './transaction.ts';

const type = 'accord-tx+jwt';
const algorithm = 'HS256';
const dayMs = 24 * 60 * 60 * 1000;

/**
 * What a token allows: `tx` all that its subject may do; `receipt` only the final page, the receipt and the
 * child.
 */
export type TokenUse = 'tx' | 'receipt';

export interface TokenClaims {
  /** Transaction id. */
  id: string;
  use: TokenUse;
  epoch: number;
  /** An expired `tx` token counts as `receipt` while the transaction is committed and its receipt valid. */
  isExpired?: boolean;
}

/** Mints and verifies transaction tokens (docs/interface.md, "Credentials"). */
export interface TransactionTokens {
  mint(claims: TokenClaims, expiresAt: Date): string;
  /** @returns undefined for anything but our tokens, and for an expired `receipt` token. */
  verify(token: string): Promise<TokenClaims | undefined>;
}

/** A token with a valid signature; its expiry is checked at each use. */
type VerifiedToken = TokenClaims & { exp: number };

/** About 500 bytes each. */
const maxVerified = 5_000;

/**
 * @param secrets the first signs, all verify, so that a secret can be rotated.
 * @param baseUrl issuer and audience.
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
  const keys = new Map(secrets.map((secret) => [keyId(secret), createSecretKey(secret)]));
  const read = createReader({ keys, baseUrl });
  const write = createWriter(keys);
  // A browser returns with the token of its last page; its signature need not be verified again.
  const verified = new LRUCache<string, VerifiedToken>({ max: maxVerified });
  return {
    mint({ id, use, epoch }, expiresAt) {
      const exp = Math.ceil(expiresAt.getTime() / 1000);
      const times = { iat: Math.floor(now() / 1000), exp };
      const jti = drawBytes().toString('base64url');
      const token = write({ use, ep: epoch, iss: baseUrl, aud: baseUrl, sub: id, jti, ...times });
      verified.set(token, { id, use, epoch, exp });
      return token;
    },
    async verify(token) {
      const remembered = verified.get(token);
      const claims = remembered ?? (await read(token).catch(() => undefined));
      if (!claims) return undefined;
      if (!remembered) verified.set(token, claims);
      const { id, use, epoch, exp } = claims;
      if (exp > Math.floor(now() / 1000)) return { id, use, epoch };
      return use === 'tx' ? { id, use: 'receipt', epoch, isExpired: true } : undefined;
    },
  };
}

type Keys = ReadonlyMap<string, KeyObject>;

function createWriter(keys: Keys): (payload: object) => string {
  const [signing] = keys;
  if (!signing) throw new Error('transaction tokens need a secret');
  const [kid, key] = signing;
  const write = createCompactJws({ alg: algorithm, typ: type, kid }, (input) =>
    createHmac('sha256', key).update(input).digest(),
  );
  return (payload) => write(JSON.stringify(payload));
}

/** Returns a function that verifies a token; it throws or returns undefined for an invalid one. */
function createReader({ keys, baseUrl }: { keys: Keys; baseUrl: string }) {
  const keyOf = ({ kid = '' }: { kid?: string }) => {
    const key = keys.get(kid);
    if (!key) throw new Error('unknown key');
    return key;
  };
  return async (token: string): Promise<VerifiedToken | undefined> => {
    const { payload } = await jwtVerify(token, keyOf, {
      algorithms: [algorithm],
      typ: type,
      issuer: baseUrl,
      audience: baseUrl,
      requiredClaims: ['exp'],
      // `verify` checks the expiry.
      clockTolerance: Number.MAX_SAFE_INTEGER,
    });
    const { sub, use, ep, exp = 0 } = payload as { sub?: string; use?: TokenUse; ep?: number; exp?: number };
    if (sub === undefined || ep === undefined || (use !== 'tx' && use !== 'receipt')) return undefined;
    return { id: sub, use, epoch: ep, exp };
  };
}

/** Identifies a secret without revealing it. */
function keyId(secret: Uint8Array): string {
  return createHash('sha256')
    .update('accord transaction token')
    .update(secret)
    .digest('base64url')
    .slice(0, 8);
}

/**
 * When a token minted now expires: a day after the deadline of an open transaction, so that its expired page
 * can offer a restart; a day from now in a final state (docs/interface.md, "Credentials").
 */
export function tokenExpiry({ open, expiresAt, now }: { open: boolean; expiresAt: Date; now: Date }): Date {
  return new Date((open ? expiresAt : now).getTime() + dayMs);
}

/** URLs of a transaction; built from BASE_URL, never from Host. */
export interface Links {
  transaction: string;
  submit: string;
  cancel: string;
  child: string;
  receipt: string;
}

export function linksOf(baseUrl: string, id: string): Links {
  const transaction = `${baseUrl}/consents/${id}`;
  return {
    transaction,
    submit: `${transaction}/submit`,
    cancel: `${transaction}/cancel`,
    child: `${transaction}/child`,
    receipt: `${baseUrl}/receipts/${id}`,
  };
}

/** Adds a transaction token to a URL. */
export function withToken(url: string, token: string): string {
  return `${url}?t=${token}`;
}

/** The link on a receipt to change the answers; undefined if the transaction is not updatable. */
export function changeLink(
  tokens: TransactionTokens,
  baseUrl: string,
  { id, tokenEpoch, context }: Pick<Transaction, 'id' | 'tokenEpoch' | 'context'>,
  until: Date,
): string | undefined {
  if (!context.updatable) return undefined;
  return withToken(linksOf(baseUrl, id).child, tokens.mint({ id, use: 'receipt', epoch: tokenEpoch }, until));
}
