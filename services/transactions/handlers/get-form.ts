import type { Context } from 'koa';
import type { DescribedElement, FormDescription } from '#lib/contracts/forms.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { withColorScheme } from '#lib/pages/color-scheme.ts';
import { requireOpen } from '../commands/submit-answers.ts';
import { noSuchTransaction, requireAccess } from '../domain/access.ts';
import { validRecords } from '../domain/earlier-answers.ts';
import { stateAt } from '../domain/states.ts';
import { hidesAnswered, type ReadTransaction } from '../domain/transaction.ts';
import { formPage, outlineOf, questionsPage } from '../presenters/form-page.ts';
import { type FilledForm, fillForm, presentForm } from '../presenters/present-form.ts';
import { mintToken } from '../presenters/present-transaction.ts';
import { readTransactionWithEarlier } from '../queries/read-transaction.ts';
import type { Dependencies } from './dependencies.ts';
import { readerLanguages } from './reader-languages.ts';
import { redirectToTransaction, sendRendered, sendTransactionPage } from './send.ts';

/** GET /consents/{txid}/submit: the form, as a page or as JSON. */
export function getFormHandler(dependencies: Dependencies): Handler {
  const { instance, tokens } = dependencies;
  return async (ctx, input) => {
    const { principal, mode } = input;
    const isShown = () => input.query.existingElementsVisible === 'true';
    const opened = await openForm(ctx, dependencies, input, isShown);
    const { read } = opened;
    if (stateAt(read.transaction, read.now) !== 'CREATED') {
      if (mode === 'html') return redirectToTransaction(ctx, dependencies, read, { principal });
      // Reading changes nothing: past the deadline too it is a conflict with the state, not a 410.
      return requireOpen(read, instance.baseUrl, 'wrong-state');
    }
    const token = mintToken(tokens, read, principal);
    if (mode === 'html') return sendForm(ctx, dependencies, opened, token);
    const { form, description } = await opened.describe();
    const labels = await dependencies.forms.labelForm({
      page: questionsPage(read, { form, description, token, instance }),
    });
    const { texts } = description;
    ctx.body = presentForm(read, form, { texts, labels, token, baseUrl: instance.baseUrl });
  };
}

/** In one call of forms, if what it said of an equal form before is what it says now. What a child asks of peers is worked on here. */
async function sendForm(
  ctx: Context,
  dependencies: Dependencies,
  { read, languages, known, describe }: OpenedForm,
  token: string,
): Promise<void> {
  const { forms, instance } = dependencies;
  const { layout, parent } = read.transaction;
  const isFreed = parent !== null && layout.elements.some((key) => key.includes('@'));
  const guess = isFreed ? undefined : known();
  const page = guess && formPage(read, { ...guess, token, instance });
  if (guess && page?.page === 'form') {
    const { revision } = guess.description;
    const coloured = withColorScheme(page, ctx.query.colorScheme);
    const { html } = await forms.renderForm({ layout, languages, revision, page: outlineOf(coloured) });
    if (html !== null) return sendRendered(ctx, dependencies, read, html);
  }
  const model = formPage(read, { ...(await describe()), token, instance });
  return sendTransactionPage(ctx, dependencies, read, model);
}

interface DescribedForm {
  description: FormDescription;
  form: FilledForm;
}

/** A transaction that the caller may answer, and its form, described on demand. */
export interface OpenedForm {
  read: ReadTransaction;
  languages: string[];
  describe(): Promise<DescribedForm>;
  /** As it was described last; undefined if it never was. */
  known(): DescribedForm | undefined;
}

/**
 * Reads a transaction with the subject's earlier answers. @param isShown elements that are shown even if the layout hides what has a valid
 * answer.
 * @throws Failure `not-found`; `withdrawn` when described.
 */
export async function openForm(
  ctx: Context,
  { db, forms, knownForms, defaultLanguage }: Dependencies,
  { params, principal, mode }: Pick<OperationInput, 'params' | 'principal' | 'mode'>,
  isShown: (identifier: string) => boolean,
): Promise<OpenedForm> {
  const read = await readTransactionWithEarlier(db, params.txid ?? '');
  if (!read) throw noSuchTransaction();
  const { transaction, earlier } = read;
  const { layout } = transaction;
  // The page of a form that is over leads to the result, which a link opens for longer.
  const isOver = mode === 'html' && stateAt(transaction, read.now) !== 'CREATED';
  requireAccess(principal, read, isOver ? 'result' : 'task');
  const languages = readerLanguages(ctx, transaction.context.language, defaultLanguage);
  const fill = (description: FormDescription): DescribedForm => {
    const valid = validRecords(earlier, description.active, read.now);
    const hides = ({ identifier }: DescribedElement) => hidesAnswered(transaction) && !isShown(identifier);
    return { description, form: fillForm(description, valid, { hides, child: transaction.parent !== null }) };
  };
  return {
    read,
    languages,
    async describe() {
      const description = await forms.describeForm({ layout, languages });
      knownForms.keep(layout, languages, description);
      return fill(description);
    },
    known() {
      const description = knownForms.find(layout, languages);
      return description && fill(description);
    },
  };
}
