import type { Context } from 'koa';
import type { Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { acceptedLanguages } from '#lib/i18n/match-language.ts';
import { createChild, requireUpdatable } from '../commands/create-child.ts';
import { noSuchTransaction, requireAccess } from '../domain/access.ts';
import { type ReadTransaction, stateAt } from '../domain/transaction.ts';
import { linksOf, withToken } from '../domain/transaction-token.ts';
import { formPage } from '../presenters/form-page.ts';
import { enteredAgain } from '../presenters/form-retry.ts';
import { embeddingOf, readAsker } from '../presenters/page-parts.ts';
import { mintToken } from '../presenters/transaction.ts';
import { readOpenChild } from '../queries/change-state.ts';
import { readTransaction } from '../queries/transactions.ts';
import { openForm } from './forms.ts';
import type { Dependencies } from './handlers.ts';
import { readerLanguages, redirectToTransaction, sendTransaction, sendTransactionPage } from './send.ts';

/** GET /consents/{txid}/child: a page with one button, or the open child as JSON. It never creates: mail scanners follow links. */
export function getChildHandler(dependencies: Dependencies): Handler {
  const { db, forms, tokens, instance, defaultLanguage } = dependencies;
  return async (ctx, { params, principal, mode }) => {
    const read = await readTransaction(db, params.txid ?? '');
    if (!read) throw noSuchTransaction();
    const { transaction, now } = read;
    requireAccess(principal, read, 'result');
    if (mode === 'json') {
      const child = await readOpenChild(db, transaction.id);
      if (!child) throw fail('not-found', 'The transaction has no open child.');
      const caller = principal.transaction ? { ...principal, transaction: undefined } : principal;
      return sendTransaction(ctx, dependencies, child, { principal: caller });
    }
    requireUpdatable(read);
    const token = mintToken(tokens, read, principal);
    const languages = readerLanguages(ctx, transaction.context.language, defaultLanguage);
    const language = languages[0] as string;
    const theme = transaction.layout.theme
      ? await forms.theme({ key: transaction.layout.theme, language })
      : null;
    const links = linksOf(instance.baseUrl, transaction.id);
    await sendTransactionPage(ctx, dependencies, read, {
      page: 'child',
      language,
      instance,
      theme,
      asker: (await readAsker(forms, read, languages)).asker,
      embedding: embeddingOf(read),
      state: stateAt(transaction, now),
      links: { child: withToken(links.child, token), transaction: withToken(links.transaction, token) },
    });
  };
}

/** POST /consents/{txid}/child: a new transaction based on a final one. */
export function createChildHandler(dependencies: Dependencies): Handler {
  const { db, instance, wake } = dependencies;
  return async (ctx, { params, body, principal, form, mode }: OperationInput<unknown>) => {
    const languages = acceptedLanguages(ctx.get('accept-language')).filter((language) => language !== '*');
    const child = await createChild(
      { db, source: instance.baseUrl, wake },
      { id: params.txid ?? '', principal, languages },
    );
    // A token of the parent opens the parent alone; the child's is minted for all that its subject may do.
    const caller = {
      principal: principal.transaction ? { ...principal, transaction: undefined } : principal,
    };
    if (form && mode === 'html' && (await sendEntered(ctx, dependencies, child, principal, body))) return;
    if (form || mode === 'html') return redirectToTransaction(ctx, dependencies, child, caller);
    return sendTransaction(ctx, dependencies, child, caller, child.created ? 201 : 200);
  };
}

/**
 * Shows the child's form with the answers that the post carries, which came too late for its parent. They are in the page alone: nothing is
 * stored before the subject sends them.
 * @returns false if the post carries none.
 */
async function sendEntered(
  ctx: Context,
  dependencies: Dependencies,
  child: ReadTransaction,
  principal: Principal,
  body: unknown,
): Promise<boolean> {
  const { transaction, now } = child;
  if (typeof body !== 'object' || body === null || Object.keys(body).length === 0) return false;
  if (stateAt(transaction, now) !== 'CREATED') return false;
  // Whoever may make the child may see its form; a token of the parent says nothing of the child.
  const use = { id: transaction.id, use: 'tx', epoch: transaction.tokenEpoch } as const;
  const reader = principal.transaction ? { ...principal, transaction: use } : principal;
  const asked = { params: { txid: transaction.id }, principal: reader, mode: 'html' } as const;
  const opened = await openForm(ctx, dependencies, asked, () => false);
  const described = await opened.describe();
  const retry = enteredAgain(body as Record<string, unknown>, described.form);
  if (!retry) return false;
  const { instance, tokens } = dependencies;
  const token = mintToken(tokens, opened.read, reader);
  ctx.set('Location', withToken(linksOf(instance.baseUrl, transaction.id).transaction, token));
  await sendTransactionPage(
    ctx,
    dependencies,
    opened.read,
    formPage(opened.read, { ...described, token, instance, retry }),
  );
  return true;
}
