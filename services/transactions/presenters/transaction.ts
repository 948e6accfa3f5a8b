import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import { receiptExpiry } from '../domain/access.ts';
import type { Follower } from '../domain/part.ts';
import {
  isFinal,
  type ReadTransaction,
  type State,
  stateAt,
  type Transaction,
} from '../domain/transaction.ts';
import { linksOf, type TransactionTokens, tokenExpiry, withToken } from '../domain/transaction-token.ts';

/** Mints the fresh token that every representation, Location, redirect and form action carries. */
export function mintToken(
  tokens: TransactionTokens,
  { transaction, now }: ReadTransaction,
  principal?: Principal,
): string {
  // One that a leader decides over has no deadline of its own.
  const open = !isFinal(stateAt(transaction, now)) && transaction.leader === null;
  const use = principal?.transaction?.use ?? 'tx';
  const expiry = tokenExpiry({ open, expiresAt: transaction.expiresAt, now });
  return tokens.mint(
    { id: transaction.id, use, epoch: transaction.tokenEpoch },
    (use === 'receipt' && receiptExpiry(transaction)) || expiry,
  );
}

/** The representation of a transaction (docs/interface.md, "Transactions"); members without a value are left out. */
export function presentTransaction(
  read: ReadTransaction,
  token: string | undefined,
  principal: Principal,
  baseUrl: string,
  followers: readonly Follower[] = [],
) {
  const { transaction, now } = read;
  const { context } = transaction;
  const state = stateAt(transaction, now);
  const links = linksOf(baseUrl, transaction.id);
  return {
    id: transaction.id,
    subject: transaction.subject,
    state,
    token,
    task: state === 'CREATED' ? links.submit : undefined,
    breed: links.child,
    receipt: state === 'COMMITTED' ? links.receipt : undefined,
    links: token === undefined ? undefined : presentLinks(transaction, state, token, baseUrl),
    language: context.language,
    updatable: context.updatable,
    cancellable: context.cancellable,
    callback: context.callback,
    created: transaction.createdAt.toISOString(),
    expires: transaction.expiresAt.toISOString(),
    parent: transaction.parent ?? undefined,
    leader: transaction.leader ?? undefined,
    followers: followers.map(presentFollower),
    ...(isPrivileged(principal) ? { context: presentContext(read), author: transaction.author } : {}),
  };
}

/** Addresses that work as they stand; one that leads nowhere in this state is left out. */
function presentLinks({ id, context }: Transaction, state: State, token: string, baseUrl: string) {
  const links = linksOf(baseUrl, id);
  const open = (url: string, works: boolean) => (works ? withToken(url, token) : undefined);
  return {
    subject: withToken(links.transaction, token),
    form: open(links.submit, state === 'CREATED'),
    child: open(links.child, isFinal(state) && context.updatable),
    receipt: open(links.receipt, state === 'COMMITTED'),
  };
}

/** Transactions of a list: without tokens, which are minted when one is opened. @param followers by transaction. */
export function presentAll(
  reads: readonly ReadTransaction[],
  principal: Principal,
  baseUrl: string,
  followers: ReadonlyMap<string, readonly Follower[]>,
) {
  return reads.map((read) =>
    presentTransaction(read, undefined, principal, baseUrl, followers.get(read.transaction.id)),
  );
}

function presentFollower({ location, remoteId, name, state, reason }: Follower) {
  return { location, id: remoteId ?? undefined, name, state, reason: reason ?? undefined };
}

/** The ConsentContext that a transaction was created from, with every default filled in. */
export function presentContext({ transaction }: ReadTransaction) {
  return transaction.context;
}
