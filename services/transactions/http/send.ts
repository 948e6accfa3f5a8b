import type { Context } from 'koa';
import type { PageContent, PageOptions } from '#lib/contracts/pages.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import { isAnonymousSubject } from '#lib/contracts/public-forms.ts';
import { isTrial } from '#lib/contracts/trials.ts';
import type { Queries } from '#lib/db/database.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { allowFraming, sendPage } from '#lib/http/send.ts';
import { acceptedLanguages } from '#lib/i18n/match-language.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import { askedLanguage, keepQuery, withKeptQuery } from '#lib/pages/kept-query.ts';
import { presentTransaction, type Related } from '../present/transaction.ts';
import { readNotices } from '../sent-parts/notices-store.ts';
import { readParts } from '../sent-parts/store.ts';
import { type Links, mintLinks } from '../transaction/links.ts';
import type { ReadTransaction, Transaction } from '../transaction/transaction.ts';
import type { Dependencies } from './dependencies.ts';
import { firstOf } from './filters.ts';

/** Renders a page of a transaction and sends it, so that its host can embed it. */
export async function sendTransactionPage(
  ctx: Context,
  { forms, instance, embedOrigins, messaging }: Dependencies,
  read: ReadTransaction,
  { page, ...options }: PageOptions & { page: PageContent },
  status = 200,
): Promise<void> {
  const colorScheme = askedColorScheme(ctx.query.colorScheme);
  const shown = page.page === 'result' || page.page === 'receipt' ? { ...page, ...choicesOf(read) } : page;
  const { html } = await forms.renderPage({ ...options, page: shown, colorScheme });
  sendPage(ctx, html, {
    status,
    frameAncestors: frameAncestors(read.transaction, embedOrigins),
    formTargets: [instance.baseUrl],
    compress: true,
  });

  /** Where the person can see all choices: not a stranger whom nobody can recognise, nor without mails. */
  function choicesOf({ transaction: { subject } }: ReadTransaction): { choices?: string } {
    const isFound = messaging.channels.mail !== null && !isAnonymousSubject(subject) && !isTrial(subject);
    return isFound ? { choices: keepQuery(`${instance.baseUrl}/choices`, ctx.query) } : {};
  }
}

/** CSP sources that may embed the page: the `iframeOrigin` of the context, else EMBED_ORIGINS. */
export function frameAncestors(transaction: Pick<Transaction, 'context'> | undefined, embedOrigins: string) {
  return `'self' ${transaction?.context.iframeOrigin ?? embedOrigins}`;
}

/** {@link mintLinks} for a page: they keep the colour scheme and the language that its URL requests. */
export function mintPageLinks(
  ctx: Context,
  dependencies: Dependencies,
  read: ReadTransaction,
  principal: Principal,
): Links {
  return withKeptQuery(mintLinks(dependencies, read, principal), ctx.query);
}

/** Reads the parts and notices of transactions. */
export async function readRelated(db: Queries, transactions: readonly Transaction[]): Promise<Related> {
  const committed = transactions.filter(({ state }) => state === 'COMMITTED').map(({ id }) => id);
  const [parts, notices] = await Promise.all([readParts(db, transactions), readNotices(db, committed)]);
  return { parts, notices };
}

/**
 * Sends the JSON of a transaction with its Location.
 * @param input.warnings faults for the unknown fields of the context.
 */
export async function sendTransaction(
  ctx: Context,
  dependencies: Dependencies,
  read: ReadTransaction,
  { principal, warnings = [] }: { principal: Principal; warnings?: Fault[] },
  status = 200,
): Promise<void> {
  const related = await readRelated(dependencies.db, [read.transaction]);
  const links = mintLinks(dependencies, read, principal);
  ctx.status = status;
  ctx.set('Location', links.transaction);
  const shown = presentTransaction(read, principal, dependencies.instance.baseUrl, related, links);
  ctx.body = warnings.length > 0 ? { ...shown, warnings } : shown;
}

/**
 * Redirects a browser to the URL of a transaction, which leads to the form, the page for the code or the
 * final page.
 * @param isSent true after a form post. If the transaction has a callback, the fragment `#sent` tells
 * services/forms/assets/page.js that the subject has just sent something.
 */
export function redirectToTransaction(
  ctx: Context,
  dependencies: Dependencies,
  read: ReadTransaction,
  { principal }: { principal: Principal },
  isSent = false,
): void {
  const url = keepQuery(mintLinks(dependencies, read, principal).transaction, ctx.query);
  redirectFrame(ctx, isSent && read.transaction.context.callback ? `${url}#sent` : url);
}

/** Redirects a browser, which may show the page in a frame. */
export function redirectFrame(ctx: Context, url: string): void {
  ctx.status = 303;
  ctx.set('Location', url);
  allowFraming(ctx);
}

/** Query parameters that say which page it is, besides those of every page. */
const pageParameters = ['t', 'done', 'ended'];

/**
 * The URL of a page that a link can show in another language, without what else a request has named;
 * undefined after a form post.
 */
export function hereOf(ctx: Context, { instance }: Pick<Dependencies, 'instance'>): string | undefined {
  if (ctx.method !== 'GET') return undefined;
  const kept = new URLSearchParams();
  for (const name of pageParameters) {
    const value = firstOf(ctx.query[name]);
    if (value !== undefined) kept.set(name, value);
  }
  return keepQuery(`${instance.baseUrl}${ctx.path}${kept.size > 0 ? `?${kept}` : ''}`, ctx.query);
}

/**
 * Languages for a page, best first: that which the reader has chosen on the page before, that of the context,
 * Accept-Language, that of the instance.
 */
export function readerLanguages(ctx: Context, language: string | undefined, fallback: string): string[] {
  const named = [askedLanguage(ctx.query.language), language].flatMap((tag) => tag ?? []);
  return [...named, ...acceptedLanguages(ctx.get('accept-language')), fallback];
}
