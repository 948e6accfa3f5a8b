import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Principal } from '#lib/contracts/principal.ts';
import { drawBytes } from '#lib/ids/random-ids.ts';
import { createCompactJws } from '#lib/jose/jws.ts';
import { receiptExpiry } from './access.ts';
import { isFinal, type ReadTransaction, stateAt, type Transaction } from './transaction.ts';

const type = 'accord-tx+jwt';
const algorithm = 'HS256';
const dayMs = 24 * 60 * 60 * 1000;

/**
 * What a token allows: `tx` all that its subject may do; `receipt` only the final page, the receipt, the
 * withdrawal and the child.
 */
export type TokenUse = 'tx' | 'receipt';

export interface TokenClaims {
  /** Transaction id. */
  id: string;
  use: TokenUse;
  epoch: number;
  /** An expired `tx` token counts as `receipt` while the transaction is committed and its receipt valid. */
  isExpired?: boolean;
  /** The form with this token was opened with Global Privacy Control. */
  gpc?: boolean;
}

/** A token with a valid signature; its expiry is checked at each use. */
type VerifiedToken = TokenClaims & { exp: number };

/** About 500 bytes each. */
const maxVerified = 5_000;

export type TransactionTokens = ReturnType<typeof createTransactionTokens>;

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
}) {
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
    /** @returns undefined for an expired `receipt` token and for a text that is no token of this instance. */
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

/**
 * Mints a new token for a representation, Location, redirect or form action. It expires a day after the
 * deadline of an open transaction, so that the page past the deadline can offer a restart; in a final state,
 * a day from now. A `receipt` token expires with the receipt, or 30 days after the end of a transaction that
 * has none, so that the link in a mail about a rollback works (docs/interface.md, "Credentials"). The links
 * on a page that was opened with it expire at the same time.
 */
function mintToken(
  tokens: TransactionTokens,
  { transaction, now }: ReadTransaction,
  { use, gpc }: Pick<TokenClaims, 'use' | 'gpc'>,
): string {
  // A transaction with a leader has no deadline of its own.
  const isOpen = !isFinal(stateAt(transaction, now)) && transaction.leader === null;
  const expiresAt =
    use === 'receipt' && !isOpen
      ? resultExpiry(transaction, now)
      : new Date((isOpen ? transaction.expiresAt : now).getTime() + dayMs);
  return tokens.mint({ id: transaction.id, use, epoch: transaction.tokenEpoch, gpc }, expiresAt);
}

/** A JWT needs an expiry, also one to a receipt that never expires. */
function inACentury(now: Date): Date {
  return new Date(now.getTime() + 36_525 * dayMs);
}

function resultExpiry(transaction: Transaction, now: Date): Date {
  const endedAt = isFinal(transaction.state) ? transaction.changedAt : now;
  const until = receiptExpiry(transaction);
  return until === undefined ? new Date(endedAt.getTime() + 30 * dayMs) : (until ?? inACentury(now));
}

interface LinkDependencies {
  tokens: TransactionTokens;
  instance: { baseUrl: string };
}

/** URLs of a transaction with a new token. @param use default: that of the caller's token, else `tx`. */
export function mintLinks(
  { tokens, instance }: LinkDependencies,
  read: ReadTransaction,
  principal?: Principal,
  use: TokenUse = useOf(principal),
): Links {
  return linksOf(instance.baseUrl, read.transaction.id, mintToken(tokens, read, { use }));
}

/**
 * URLs of a form with a new token, which keeps the signal of the browser until the answers are submitted: a
 * GET stores nothing.
 */
export function mintFormLinks(
  { tokens, instance }: LinkDependencies,
  read: ReadTransaction,
  { principal, gpc }: { principal: Principal | undefined; gpc: boolean },
): Links {
  const token = mintToken(tokens, read, { use: useOf(principal), gpc });
  return linksOf(instance.baseUrl, read.transaction.id, token);
}

function useOf(principal: Principal | undefined): TokenUse {
  return principal?.transaction?.use ?? 'tx';
}

export type Links = ReturnType<typeof linksOf>;

/** URLs of a transaction, with a transaction token if given; built from BASE_URL, never from Host. */
export function linksOf(baseUrl: string, id: string, token?: string) {
  const transaction = `${baseUrl}/consents/${id}`;
  const query = token === undefined ? '' : `?t=${token}`;
  return {
    token,
    transaction: `${transaction}${query}`,
    submit: `${transaction}/submit${query}`,
    confirm: `${transaction}/confirm${query}`,
    resend: `${transaction}/confirm/resend${query}`,
    cancel: `${transaction}/cancel${query}`,
    child: `${transaction}/child${query}`,
    withdraw: `${transaction}/withdraw${query}`,
    receipt: `${baseUrl}/receipts/${id}${query}`,
  };
}

/**
 * The link on a receipt to change the answers; undefined if the transaction is not updatable.
 * @param until when the receipt expires; null: never.
 */
export function changeLink(
  tokens: TransactionTokens,
  baseUrl: string,
  { id, tokenEpoch, context }: Pick<Transaction, 'id' | 'tokenEpoch' | 'context'>,
  { until, now }: { until: Date | null; now: Date },
): string | undefined {
  if (!context.updatable) return undefined;
  const claims = { id, use: 'receipt', epoch: tokenEpoch } as const;
  return linksOf(baseUrl, id, tokens.mint(claims, until ?? inACentury(now))).child;
}
