import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import type { Part } from '../domain/part.ts';
import {
  isFinal,
  type ReadTransaction,
  type State,
  stateAt,
  type Transaction,
} from '../domain/transaction.ts';
import { linksOf } from '../domain/transaction-token.ts';

/**
 * The representation of a transaction (openapi.yaml, `Transaction`); members without a value are left out.
 * @param token undefined in lists, which have no links. @param parts in the order of the form.
 */
export function presentTransaction(
  read: ReadTransaction,
  token: string | undefined,
  principal: Principal,
  baseUrl: string,
  parts: readonly Part[] = [],
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
    followers: parts.map(presentPart),
    ...(isPrivileged(principal) ? { context, author: transaction.author } : {}),
  };
}

/** Links with the token; those that lead nowhere in this state are left out. */
function presentLinks({ id, context }: Transaction, state: State, token: string, baseUrl: string) {
  const { transaction, submit, child, receipt } = linksOf(baseUrl, id, token);
  return {
    subject: transaction,
    form: state === 'CREATED' ? submit : undefined,
    child: isFinal(state) && context.updatable ? child : undefined,
    receipt: state === 'COMMITTED' ? receipt : undefined,
  };
}

function presentPart({ location, remoteId, name, state, reason }: Part) {
  return { location, id: remoteId ?? undefined, name, state, reason: reason ?? undefined };
}
