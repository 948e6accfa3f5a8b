import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import { usualValidity } from '#lib/text/answer-validity.ts';
import type { Notice } from '../sent-parts/notice.ts';
import type { Part } from '../sent-parts/part.ts';
import type { ConsentContext } from '../transaction/context.ts';
import { type Links, linksOf } from '../transaction/links.ts';
import { isAwaitingCode, isFinal, type ReadTransaction, stateAt } from '../transaction/transaction.ts';

/** What is stored beside transactions, by transaction. */
export interface Related {
  parts: ReadonlyMap<string, Part[]>;
  notices: ReadonlyMap<string, Notice[]>;
}

const operator: Principal = { roles: ['operator'], reach: 'any', name: '', account: '' };
const unrelated: Related = { parts: new Map(), notices: new Map() };

/**
 * What the pages of a transaction are drawn from: its representation, as operators get it, and its layout.
 * @param links with a token; undefined on pages that have none.
 */
export function pageOf(
  read: ReadTransaction,
  baseUrl: string,
  { related = unrelated, links }: { related?: Related; links?: Links } = {},
) {
  const transaction = presentTransaction(read, operator, baseUrl, related, links);
  return { transaction, layout: read.transaction.layout };
}

/**
 * The representation of a transaction (openapi.yaml, `Transaction`); members without a value are left out.
 * @param links with a token; undefined in lists, which have none.
 */
export function presentTransaction(
  read: ReadTransaction,
  principal: Principal,
  baseUrl: string,
  { parts, notices }: Related,
  links?: Links,
) {
  const { transaction, now } = read;
  const { context } = transaction;
  const state = stateAt(transaction, now);
  const awaitsCode = isAwaitingCode(read);
  const plain = linksOf(baseUrl, transaction.id);
  return {
    id: transaction.id,
    subject: transaction.subject,
    state,
    kind: transaction.kind ?? undefined,
    token: links?.token,
    task: state === 'CREATED' ? plain.submit : awaitsCode ? plain.confirm : undefined,
    breed: plain.child,
    receipt:
      state === 'COMMITTED' && !transaction.erasedAt && transaction.kind !== 'IMPORT'
        ? plain.receipt
        : undefined,
    erased: transaction.erasedAt?.toISOString(),
    // Links that lead nowhere in this state are left out.
    links: links && {
      subject: links.transaction,
      form: state === 'CREATED' ? links.submit : undefined,
      confirm: awaitsCode ? links.confirm : undefined,
      child: isFinal(state) && context.updatable ? links.child : undefined,
      receipt: state === 'COMMITTED' && transaction.kind !== 'IMPORT' ? links.receipt : undefined,
    },
    language: context.language,
    updatable: context.updatable,
    cancellable: context.cancellable,
    callback: context.callback,
    created: transaction.createdAt.toISOString(),
    expires: transaction.expiresAt.toISOString(),
    parent: transaction.parent ?? undefined,
    leader: transaction.leader ?? undefined,
    followers: (parts.get(transaction.id) ?? []).map(presentPart),
    recipients:
      transaction.kind === 'WITHDRAWAL' || notices.has(transaction.id)
        ? (notices.get(transaction.id) ?? []).map((notice) => presentNotice(notice, principal))
        : undefined,
    ...(isPrivileged(principal) ? { context: presentContext(context), author: transaction.author } : {}),
  };
}

/** A context with every default filled in (openapi.yaml, `StoredContext`). */
export function presentContext<Context extends Pick<ConsentContext, 'validity'>>(context: Context) {
  return { ...context, validity: context.validity ?? usualValidity };
}

/** The representation of a notice (openapi.yaml, `Recipient`). Notes are for operators and above. */
export function presentNotice({ name, kind, state, outcome, note, since }: Notice, principal: Principal) {
  return {
    name,
    kind,
    state,
    outcome: outcome ?? undefined,
    note: isPrivileged(principal) ? (note ?? undefined) : undefined,
    since: since.toISOString(),
  };
}

/** The representation of a part (openapi.yaml, `Follower`). */
export function presentPart({ location, remoteId, name, state, reason, changedAt, withdrawal }: Part) {
  return {
    location,
    id: remoteId ?? undefined,
    name,
    state,
    reason: reason ?? undefined,
    changed: changedAt.toISOString(),
    withdrawal: withdrawal
      ? { state: withdrawal.state, since: new Date(withdrawal.since).toISOString() }
      : undefined,
  };
}
