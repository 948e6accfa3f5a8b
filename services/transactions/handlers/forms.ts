import type { Context } from 'koa';
import type { DescribedElement, FormDescription } from '#lib/contracts/forms.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { preferredMode, sendPage } from '#lib/http/send.ts';
import { withColorScheme } from '#lib/pages/color-scheme.ts';
import { readContext } from '../commands/create-transaction.ts';
import { requireOpen, type SubmitOutcome, submitAnswers } from '../commands/submit-answers.ts';
import { noSuchTransaction, requireAccess } from '../domain/access.ts';
import { splitComment } from '../domain/answers.ts';
import { layoutReference } from '../domain/context.ts';
import { validRecords } from '../domain/records.ts';
import { hidesAnswered, type ReadTransaction, stateAt } from '../domain/transaction.ts';
import { linksOf, withToken } from '../domain/transaction-token.ts';
import { type FilledForm, fillForm, presentForm } from '../presenters/form.ts';
import { formPage, outlineOf, previewPage, questionsPage } from '../presenters/form-page.ts';
import { retryAfter, shownIn } from '../presenters/form-retry.ts';
import { mintToken } from '../presenters/transaction.ts';
import { readEarlier } from '../queries/records.ts';
import { readNow, readTransactionWithEarlier } from '../queries/transactions.ts';
import type { Dependencies } from './handlers.ts';
import {
  readerLanguages,
  redirectAfterSending,
  redirectToTransaction,
  sendRendered,
  sendTransaction,
  sendTransactionPage,
} from './send.ts';
import { submitDependencies } from './submit-dependencies.ts';

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

type Input = OperationInput<Record<string, unknown>>;

/** POST /consents/{txid}/submit: answers as JSON or as a form post. */
export function submitAnswersHandler(dependencies: Dependencies): Handler {
  return async (ctx, input: Input) => {
    const { answers, comment } = splitComment(input.body);
    // For the error page of a form that was sent too late.
    if (input.form) ctx.state.enteredForm = input.body;
    const outcome = await submitAnswers(submitDependencies(dependencies), {
      id: input.params.txid ?? '',
      principal: input.principal,
      answers,
      comment,
      form: input.form,
      languages: readerLanguages(ctx, undefined, dependencies.defaultLanguage),
    });
    if (outcome.outcome === 'rejected') return reject(ctx, dependencies, input, outcome, answers);
    if (input.form) return redirectAfterSending(ctx, dependencies, outcome.read, input);
    return sendTransaction(ctx, dependencies, outcome.read, input);
  };
}

/** A browser gets the form again with its answers kept; a client gets the faults (docs/interface.md, "Answers"). */
async function reject(
  ctx: Context,
  dependencies: Dependencies,
  input: Input,
  { check, read }: Extract<SubmitOutcome, { outcome: 'rejected' }>,
  answers: Record<string, string[]>,
): Promise<void> {
  const { instance, tokens } = dependencies;
  const token = mintToken(tokens, read, input.principal);
  if (!input.form || preferredMode(ctx.get('accept')) !== 'html') {
    const task = withToken(linksOf(instance.baseUrl, read.transaction.id).submit, token);
    if (check.outcome === 'stale')
      throw fail(
        'stale-serial',
        'The questions have changed since they were shown. Read them again and answer.',
        {
          errors: check.stale.map((identifier) => ({
            pointer: pointerTo(identifier),
            code: 'stale-serial',
            detail: 'has a newer version',
          })),
          members: { task },
        },
      );
    throw fail('invalid-answer', 'The answers are not valid.', { errors: check.faults });
  }
  const opened = await openForm(ctx, dependencies, input, shownIn(answers));
  const { form, description } = await opened.describe();
  const retry = retryAfter(check, answers, form);
  const page = formPage(opened.read, { form, description, token, instance, retry });
  await sendTransactionPage(ctx, dependencies, read, page, check.outcome === 'stale' ? 409 : 422);
}

function pointerTo(identifier: string): string {
  return `/${identifier.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** POST /consents/preview: the form of a context as its subject would see it, without a transaction. */
export function previewFormHandler(dependencies: Dependencies): Handler {
  const { db, forms, instance, defaultLanguage, embedOrigins } = dependencies;
  return async (ctx, { body, principal }: OperationInput<Record<string, unknown>>) => {
    // A preview needs no subject (openapi.yaml); without one there are no earlier answers to show.
    const named = typeof body.subject === 'string' && body.subject.trim() !== '';
    const context = readContext(named ? body : { ...body, subject: 'preview' }, principal);
    const { layout } = await forms.resolveLayout(layoutReference(context));
    const languages = readerLanguages(ctx, context.language, defaultLanguage);
    const description = await forms.describeForm({ layout, languages });
    const earlier =
      context.silent || !named
        ? []
        : await readEarlier(db, context.subject, context.object ?? '', layout.elements);
    const valid = validRecords(earlier, description.active, await readNow(db));
    const page = previewPage({ context, layout, description, valid, instance });
    const { html } = await forms.renderPage({ model: withColorScheme(page, ctx.query.colorScheme) });
    sendPage(ctx, html, { frameAncestors: `'self' ${context.iframeOrigin ?? embedOrigins}` });
  };
}
