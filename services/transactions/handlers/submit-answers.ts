import type { Context } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { preferredMode } from '#lib/http/negotiate.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { type SubmitOutcome, submitAnswers } from '../commands/submit-answers.ts';
import { linksOf, withToken } from '../domain/links.ts';
import { splitComment } from '../domain/split-comment.ts';
import { formPage } from '../presenters/form-page.ts';
import { mintToken } from '../presenters/present-transaction.ts';
import { retryAfter, shownIn } from '../presenters/retry.ts';
import type { Dependencies } from './dependencies.ts';
import { openForm } from './get-form.ts';
import { readerLanguages } from './reader-languages.ts';
import { redirectAfterSending, sendTransaction, sendTransactionPage } from './send.ts';
import { submitDependencies } from './submit-dependencies.ts';

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
