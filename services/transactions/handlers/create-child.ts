import type { Handler } from '#lib/http/operation.ts';
import { acceptedLanguages } from '#lib/i18n/match-language.ts';
import { createChild } from '../commands/create-child.ts';
import type { Dependencies } from './dependencies.ts';
import { redirectToTransaction, sendTransaction } from './send.ts';

/** POST /consents/{txid}/child: a new transaction based on a final one. */
export function createChildHandler(dependencies: Dependencies): Handler {
  const { db, instance, wake } = dependencies;
  return async (ctx, { params, principal, form, mode }) => {
    const languages = acceptedLanguages(ctx.get('accept-language')).filter((language) => language !== '*');
    const child = await createChild(
      { db, source: instance.baseUrl, wake },
      { id: params.txid ?? '', principal, languages },
    );
    // A token of the parent opens the parent alone; the child's is minted for all that its subject may do.
    const caller = {
      principal: principal.transaction ? { ...principal, transaction: undefined } : principal,
    };
    if (form || mode === 'html') return redirectToTransaction(ctx, dependencies, child, caller);
    return sendTransaction(ctx, dependencies, child, caller, child.created ? 201 : 200);
  };
}
