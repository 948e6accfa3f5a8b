import type { Context } from 'koa';
import type { Principal } from '#lib/auth/principal.ts';
import type { FormDescription } from '#lib/contracts/forms.ts';
import type { Handler } from '#lib/http/operation.ts';
import { requireOpen } from '../commands/submit-answers.ts';
import { noSuchTransaction, requireAccess } from '../domain/access.ts';
import { validRecords } from '../domain/earlier-answers.ts';
import { stateAt } from '../domain/states.ts';
import type { ReadTransaction } from '../domain/transaction.ts';
import { formPage } from '../presenters/form-page.ts';
import { type FilledForm, fillForm, presentForm } from '../presenters/present-form.ts';
import { mintToken } from '../presenters/present-transaction.ts';
import { readTransactionWithEarlier } from '../queries/read-transaction.ts';
import type { Dependencies } from './dependencies.ts';
import { readerLanguages } from './reader-languages.ts';
import { redirectToTransaction, sendTransactionPage } from './send.ts';

/** GET /consents/{txid}/submit: the form, as a page or as JSON. */
export function getFormHandler(dependencies: Dependencies): Handler {
  const { instance, tokens } = dependencies;
  return async (ctx, { params, principal, mode }) => {
    const opened = await openForm(ctx, dependencies, params.txid ?? '', principal);
    const { read } = opened;
    if (stateAt(read.transaction, read.now) !== 'CREATED') {
      if (mode === 'html') return redirectToTransaction(ctx, dependencies, read, { principal });
      // Looking is no deed: past the deadline too it is a conflict with the state (decisions.md §4 and §9).
      return requireOpen(read, instance.baseUrl, 'wrong-state');
    }
    const { form, description } = await opened.describe();
    const token = mintToken(tokens, read, principal);
    if (mode === 'html')
      return sendTransactionPage(
        ctx,
        dependencies,
        read,
        formPage(read, { form, description, token, instance }),
      );
    ctx.body = presentForm(read, form, description.texts, token, instance.baseUrl);
  };
}

/** A transaction that the caller may answer, and its form, described on demand. */
export interface OpenedForm {
  read: ReadTransaction;
  describe(): Promise<{ description: FormDescription; form: FilledForm }>;
}

/** Reads a transaction with the subject's earlier answers. @throws Failure `not-found`; `withdrawn` when described. */
export async function openForm(
  ctx: Context,
  { db, forms, defaultLanguage }: Dependencies,
  id: string,
  principal: Principal,
): Promise<OpenedForm> {
  const read = await readTransactionWithEarlier(db, id);
  if (!read) throw noSuchTransaction();
  const { transaction, earlier } = read;
  requireAccess(principal, transaction);
  return {
    read,
    async describe() {
      const languages = readerLanguages(ctx, transaction.context.language, defaultLanguage);
      const description = await forms.describeForm({ layout: transaction.layout, languages });
      const valid = validRecords(earlier, description.active, read.now);
      const form = fillForm(transaction.layout, description, valid, transaction.parent !== null);
      return { description, form };
    },
  };
}
