import type { Context } from 'koa';
import type { PageModel } from '#lib/contracts/pages.ts';
import type { Fault } from '#lib/errors/fail.ts';
import type { OperationInput } from '#lib/http/operation.ts';
import { sendPage } from '#lib/http/send.ts';
import { acceptedLanguages } from '#lib/i18n/match-language.ts';
import { keepColorScheme, withColorScheme } from '#lib/pages/color-scheme.ts';
import type { ReadTransaction } from '../domain/transaction.ts';
import { linksOf, withToken } from '../domain/transaction-token.ts';
import { frameAncestors } from '../presenters/page-parts.ts';
import { mintToken, presentTransaction } from '../presenters/transaction.ts';
import { readFollowers } from '../queries/parts.ts';
import type { Dependencies } from './handlers.ts';

/** Renders a page about a transaction and sends it with the policy that lets its host embed it. */
export async function sendTransactionPage(
  ctx: Context,
  dependencies: Dependencies,
  read: ReadTransaction,
  model: PageModel,
  status = 200,
): Promise<void> {
  const page = withColorScheme(model, ctx.query.colorScheme);
  const { html } = await dependencies.forms.renderPage({ model: page });
  sendRendered(ctx, dependencies, read, html, status);
}

/** Sends a page about a transaction with the policy that lets its host embed it. */
export function sendRendered(
  ctx: Context,
  { instance, embedOrigins }: Pick<Dependencies, 'instance' | 'embedOrigins'>,
  read: ReadTransaction,
  html: string,
  status = 200,
): void {
  sendPage(ctx, html, {
    status,
    frameAncestors: frameAncestors(read, embedOrigins),
    formTargets: [instance.baseUrl],
    compress: true,
  });
}

/** Sends a transaction's representation with its Location. @param input.warnings what was ignored in the context of a creation. */
export async function sendTransaction(
  ctx: Context,
  { db, tokens, instance }: Dependencies,
  read: ReadTransaction,
  { principal, warnings = [] }: Pick<OperationInput, 'principal'> & { warnings?: Fault[] },
  status = 200,
): Promise<void> {
  const followers = await readFollowers(db, [read.transaction]);
  const token = mintToken(tokens, read, principal);
  ctx.status = status;
  ctx.set('Location', withToken(linksOf(instance.baseUrl, read.transaction.id).transaction, token));
  const shown = presentTransaction(
    read,
    token,
    principal,
    instance.baseUrl,
    followers.get(read.transaction.id),
  );
  ctx.body = warnings.length > 0 ? { ...shown, warnings } : shown;
}

/** Sends the browser to a transaction's root, from where it is led on. */
export function redirectToTransaction(
  ctx: Context,
  { tokens, instance }: Dependencies,
  read: ReadTransaction,
  { principal }: Pick<OperationInput, 'principal'>,
  fragment = '',
): void {
  const token = mintToken(tokens, read, principal);
  ctx.status = 303;
  const url = withToken(linksOf(instance.baseUrl, read.transaction.id).transaction, token);
  ctx.set('Location', keepColorScheme(url, ctx.query.colorScheme) + fragment);
}

/**
 * Sends the browser on after a form was sent. If the transaction has a callback, the address has the fragment by which the page's
 * script (services/forms/assets/page.js) knows that this load follows the submission. A browser keeps the fragment of a redirect to
 * itself (RFC 9110, section 10.2.2), so the page and its address stay the same for every other reader.
 */
export function redirectAfterSending(
  ctx: Context,
  dependencies: Dependencies,
  read: ReadTransaction,
  input: Pick<OperationInput, 'principal'>,
): void {
  redirectToTransaction(ctx, dependencies, read, input, read.transaction.context.callback ? '#sent' : '');
}

/** The languages that the reader of a form or page wants, best first: the context's own, then Accept-Language, then the instance's. */
export function readerLanguages(
  ctx: Context,
  language: string | undefined,
  instanceLanguage: string,
): string[] {
  return [
    ...(language ? [language] : []),
    ...acceptedLanguages(ctx.get('accept-language')),
    instanceLanguage,
  ];
}
