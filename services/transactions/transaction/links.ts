import type { Principal } from '#lib/contracts/principal.ts';
import { receiptExpiry } from './access.ts';
import type { ReadTransaction, Transaction } from './transaction.ts';
import { isFinal, stateAt } from './transaction.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Mints and verifies transaction tokens (`createTransactionTokens`). */
export interface TransactionTokens {
  mint(claims: TokenClaims, expiresAt: Date): string;
  /** @returns undefined for an expired `receipt` token and for a text that is no token of this instance. */
  verify(token: string): Promise<TokenClaims | undefined>;
}

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

/**
 * Mints a new token for a representation, Location, redirect or form action. It expires a day after the
 * deadline of an open transaction, so that the page past the deadline can offer a restart; in a final state,
 * a day from now. A `receipt` token expires with the receipt, or 30 days after the end of a transaction that
 * has none, so that the link in a mail about a rollback works (docs/interface.md, "Credentials"). The links
 * on a page that was opened with it expire at the same time.
 */
function mintToken(
  tokens: TransactionTokens,
  read: ReadTransaction,
  { use, gpc }: Pick<TokenClaims, 'use' | 'gpc'>,
): string {
  const { id, tokenEpoch } = read.transaction;
  return tokens.mint({ id, use, epoch: tokenEpoch, gpc }, tokenExpiry(read, use));
}

/** When a token expires that is minted now. */
export function tokenExpiry({ transaction, now }: ReadTransaction, use: TokenUse): Date {
  // A transaction with a leader has no deadline of its own.
  const isOpen = !isFinal(stateAt(transaction, now)) && transaction.leader === null;
  return use === 'receipt' && !isOpen
    ? resultExpiry(transaction, now)
    : new Date((isOpen ? transaction.expiresAt : now).getTime() + dayMs);
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
 * The URL to which a short link leads: with a token that lives as long as the link. Past its life, a link to
 * answers opens their receipt while the receipt is valid, as its token does.
 * @returns undefined if the link has ended, or its tokens were revoked.
 */
export function redeemLink(
  { tokens, instance }: LinkDependencies,
  { transaction, now }: ReadTransaction,
  { use, epoch, expiresAt }: Pick<TokenClaims, 'use' | 'epoch'> & { expiresAt: Date },
): string | undefined {
  const { id } = transaction;
  if (epoch < transaction.tokenEpoch) return undefined;
  const urlWith = (claims: TokenClaims, until: Date) =>
    linksOf(instance.baseUrl, id, tokens.mint(claims, until)).transaction;
  if (expiresAt > now) return urlWith({ id, use, epoch }, expiresAt);
  const until = receiptExpiry(transaction);
  if (until === undefined || (until !== null && until <= now)) return undefined;
  return urlWith({ id, use: 'receipt', epoch }, until ?? inACentury(now));
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
