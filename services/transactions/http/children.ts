import type { Context } from 'koa';
import type { Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { FormFields, OperationHandlers } from '#lib/http/operation.ts';
import { acceptedLanguages } from '#lib/i18n/match-language.ts';
import { resultPage } from '../present/result-page.ts';
import { createChild } from '../request/child.ts';
import { requireAccess, requireUpdatable } from '../transaction/access.ts';
import { readOpenChild } from '../transaction/store.ts';
import { type ReadTransaction, stateAt } from '../transaction/transaction.ts';
import { keyOf } from '../transaction/values.ts';
import { readResult } from '../withdrawal/results.ts';
import type { Dependencies } from './dependencies.ts';
import { formOf, openForm } from './forms.ts';
import {
  mintPageLinks,
  readerLanguages,
  readRelated,
  redirectToTransaction,
  sendTransaction,
  sendTransactionPage,
} from './send.ts';

/** /consents/{txid}/child */
export function childHandlers(dependencies: Dependencies) {
  const { db, instance } = dependencies;
  return {
    /**
     * A page that offers to create the child or to withdraw consents, or the open child as JSON. Creates
     * nothing, because mail scanners follow links.
     */
    async getChild(ctx, { params, principal, mode }) {
      const read = requireAccess(principal, await readResult(db, params.txid), 'result');
      const { transaction } = read;
      if (mode === 'json') {
        const child = await readOpenChild(db, transaction.id);
        if (!child) throw fail('not-found', 'The transaction has no open child.');
        return sendTransaction(ctx, dependencies, child, { principal: withoutToken(principal) });
      }
      requireUpdatable(read);
      const page = resultPage('child', read, {
        baseUrl: instance.baseUrl,
        links: mintPageLinks(ctx, dependencies, read, principal),
        related: await readRelated(db, [transaction]),
      });
      await sendTransactionPage(ctx, dependencies, read, {
        page,
        languages: readerLanguages(ctx, transaction.context.language, instance.language),
        themes: [transaction.layout.theme],
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
  if (!fields || stateAt(transaction, now) !== 'CREATED') return false;
  const asked = new Set(transaction.layout.elements);
  const named = [...Object.keys(fields), ...(fields['accord-shown'] ?? [])];
  // Names may have a prefix (docs/interface.md).
  const isAsked = (name: string) => asked.has(keyOf(name.replace(/^bloc\/[^/]*\//, '')));
  if (!named.some(isAsked)) return false;
  // A caller who may create a child may read its form.
  const use = { id: transaction.id, use: 'tx', epoch: transaction.tokenEpoch } as const;
  const reader = principal.transaction ? { ...principal, transaction: use } : principal;
  const input = { params: { txid: transaction.id }, principal: reader, mode: 'html' } as const;
  const read = await openForm(dependencies, input);
  const form = await formOf(ctx, dependencies, read, { principal: reader, entered: { answers: fields } });
  ctx.set('Location', form.links.transaction);
  await sendTransactionPage(ctx, dependencies, read, form);
  return true;
}
