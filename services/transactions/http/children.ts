import type { Context } from 'koa';
import type { Principal } from '#lib/contracts/principal.ts';
import type { ReceiptBody } from '#lib/contracts/receipt-body.ts';
import { fail } from '#lib/errors/fail.ts';
import type { FormFields, OperationHandlers } from '#lib/http/operation.ts';
import { acceptedLanguages } from '#lib/i18n/match-language.ts';
import { receiptAnswers, withdrawalChoice } from '../present/final-page.ts';
import { formPage } from '../present/form-page.ts';
import { enteredAgain } from '../present/form-retry.ts';
import { embeddingOf, findTheme, readAsker } from '../present/page-parts.ts';
import { createChild } from '../request/child.ts';
import { readParts } from '../sent-parts/store.ts';
import { requireAccess, requireUpdatable } from '../transaction/access.ts';
import { mintFormLinks, mintLinks } from '../transaction/links.ts';
import { readOpenChild } from '../transaction/store.ts';
import { type ReadTransaction, stateAt } from '../transaction/transaction.ts';
import { readResult } from '../withdrawal/results.ts';
import { hasGpc, openForm } from './forms.ts';
import type { Dependencies } from './handlers.ts';
import { readerLanguages, redirectToTransaction, sendTransaction, sendTransactionPage } from './send.ts';

/** /consents/{txid}/child */
export function childHandlers(dependencies: Dependencies) {
  const { db, forms, instance, defaultLanguage } = dependencies;
  return {
    /**
     * A page that offers to create the child or to withdraw consents, or the open child as JSON. Creates
     * nothing, because mail scanners follow links.
     */
    async getChild(ctx, { params, principal, mode }) {
      const read = requireAccess(principal, await readResult(db, params.txid), 'result');
      const { transaction, now } = read;
      if (mode === 'json') {
        const child = await readOpenChild(db, transaction.id);
        if (!child) throw fail('not-found', 'The transaction has no open child.');
        return sendTransaction(ctx, dependencies, child, { principal: withoutToken(principal) });
      }
      requireUpdatable(read);
      const languages = readerLanguages(ctx, transaction.context.language, defaultLanguage);
      const language = languages[0] as string;
      const theme = await findTheme(forms, [transaction.layout.theme], language);
      const links = mintLinks(dependencies, read, principal);
      const parts = (await readParts(db, [transaction])).get(transaction.id) ?? [];
      const receipt = read.receipt === null ? undefined : (JSON.parse(read.receipt) as ReceiptBody);
      await sendTransactionPage(ctx, dependencies, read, {
        page: 'child',
        language,
        instance,
        theme,
        asker: (await readAsker(forms, read, languages)).asker,
        embedding: embeddingOf(read),
        state: stateAt(transaction, now),
        ...(receipt && {
          answers: receiptAnswers(receipt),
          withdrawal: withdrawalChoice(links, receipt, { standing: read.standing, parts }),
        }),
        links: { child: links.child, transaction: links.transaction },
      });
    },

    async createChild(ctx, { params, body, principal, form, mode }) {
      const languages = acceptedLanguages(ctx.get('accept-language')).filter((language) => language !== '*');
      const child = await createChild(dependencies, { id: params.txid, principal, languages });
      const caller = { principal: withoutToken(principal) };
      if (form && mode === 'html' && (await sendEntered(ctx, dependencies, child, principal, body))) return;
      if (form || mode === 'html') return redirectToTransaction(ctx, dependencies, child, caller);
      return sendTransaction(ctx, dependencies, child, caller, child.created ? 201 : 200);
    },
  } satisfies OperationHandlers;
}

/** Drops a token of the parent, which does not open the child; `mintLinks` then mints a `tx` token. */
function withoutToken(principal: Principal): Principal {
  return principal.transaction ? { ...principal, transaction: undefined } : principal;
}

/**
 * Sends the form of the child, filled in with a form post that was too late for the parent; stores nothing.
 * @returns false if the post has no answers.
 */
async function sendEntered(
  ctx: Context,
  dependencies: Dependencies,
  child: ReadTransaction,
  principal: Principal,
  fields: FormFields | undefined,
): Promise<boolean> {
  const { transaction, now } = child;
  if (!fields || Object.keys(fields).length === 0) return false;
  if (stateAt(transaction, now) !== 'CREATED') return false;
  // A caller who may create a child may read its form.
  const use = { id: transaction.id, use: 'tx', epoch: transaction.tokenEpoch } as const;
  const reader = principal.transaction ? { ...principal, transaction: use } : principal;
  const input = { params: { txid: transaction.id }, principal: reader, mode: 'html' } as const;
  const { read, describe } = await openForm(ctx, dependencies, input, () => false);
  const form = await describe();
  const retry = enteredAgain(fields, form);
  if (!retry) return false;
  const gpc = await hasGpc(ctx, dependencies);
  const links = mintFormLinks(dependencies, read, { principal: reader, gpc });
  ctx.set('Location', links.transaction);
  const page = formPage(read, { form, links, instance: dependencies.instance, retry, gpc });
  await sendTransactionPage(ctx, dependencies, read, page);
  return true;
}
