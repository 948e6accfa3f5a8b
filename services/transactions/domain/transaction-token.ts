import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { drawBytes } from '#lib/ids/random-ids.ts';
import { createCompactJws } from '#lib/jose/jws.ts';

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
  /** A `tx` token past its life, which counts as `receipt` if the transaction is committed and its receipt valid. */
  isExpired?: boolean;
}

/** Makes and reads transaction tokens. */
export interface TransactionTokens {
  mint(claims: TokenClaims, expiresAt: Date): string;
  /** @returns undefined for anything that is not a token of ours, and for a `receipt` token past its life. */
  verify(token: string): Promise<TokenClaims | undefined>;
}

/** A token known to be ours and whole; whether it has expired is looked at each time. */
type KnownToken = TokenClaims & { exp: number };

/** Most tokens that are remembered: each is some 500 bytes. */
const maxKnown = 5_000;

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
  const keys = new Map(secrets.map((secret) => [keyId(secret), createSecretKey(secret)]));
  const read = createReader({ keys, baseUrl });
  const write = createWriter(keys);
  // A browser comes back with the token that it was just given: it is known without working out its signature again.
  const known = new LRUCache<string, KnownToken>({ max: maxKnown });
  return {
    mint({ id, use, epoch }, expiresAt) {
      const exp = Math.ceil(expiresAt.getTime() / 1000);
      const times = { iat: Math.floor(now() / 1000), exp };
      const jti = drawBytes().toString('base64url');
      const token = write({ use, ep: epoch, iss: baseUrl, aud: baseUrl, sub: id, jti, ...times });
      known.set(token, { id, use, epoch, exp });
      return token;
    },
    async verify(token) {
      const remembered = known.get(token);
      const claims = remembered ?? (await read(token).catch(() => undefined));
      if (!claims) return undefined;
      if (!remembered) known.set(token, claims);
      const { id, use, epoch, exp } = claims;
      if (exp > Math.floor(now() / 1000)) return { id, use, epoch };
      return use === 'tx' ? { id, use: 'receipt', epoch, isExpired: true } : undefined;
    },
  };
}

type Keys = ReadonlyMap<string, KeyObject>;

function createWriter(keys: Keys): (payload: object) => string {
  const [signing] = keys;
  if (!signing) throw new Error('a transaction token needs a secret');
  const [kid, key] = signing;
  const write = createCompactJws({ alg: algorithm, typ: type, kid }, (input) =>
    createHmac('sha256', key).update(input).digest(),
  );
  return (payload) => write(JSON.stringify(payload));
}

/** @returns reads a token; throws, or returns undefined, for anything that is not a valid one. */
function createReader({ keys, baseUrl }: { keys: Keys; baseUrl: string }) {
  const keyOf = ({ kid = '' }: { kid?: string }) => {
    const key = keys.get(kid);
    if (!key) throw new Error('unknown key');
    return key;
  };
  return async (token: string): Promise<KnownToken | undefined> => {
    const { payload } = await jwtVerify(token, keyOf, {
      algorithms: [algorithm],
      typ: type,
      issuer: baseUrl,
      audience: baseUrl,
      requiredClaims: ['exp'],
      // Whether it has expired is judged by `verify`, each time.
      clockTolerance: Number.MAX_SAFE_INTEGER,
    });
    const { sub, use, ep, exp = 0 } = payload as { sub?: string; use?: TokenUse; ep?: number; exp?: number };
    if (sub === undefined || ep === undefined || (use !== 'tx' && use !== 'receipt')) return undefined;
    return { id: sub, use, epoch: ep, exp };
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
 * restart; in a final state a day from now (docs/interface.md, "Credentials").
 */
export function tokenExpiry({ open, expiresAt, now }: { open: boolean; expiresAt: Date; now: Date }): Date {
  return new Date((open ? expiresAt : now).getTime() + dayMs);
}

/** URLs of a transaction, all built from BASE_URL, never from Host. */
export interface Links {
  transaction: string;
  submit: string;
  cancel: string;
  child: string;
  receipt: string;
}

/** @returns the URLs of a transaction, without a token. */
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

/** A URL that opens with a transaction token. */
export function withToken(url: string, token: string): string {
  return `${url}?t=${token}`;
}
