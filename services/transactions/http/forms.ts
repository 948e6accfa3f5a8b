import type { Context } from 'koa';
import { transactionToken } from '#lib/auth/authenticate.ts';
import type { FormPage } from '#lib/contracts/pages.ts';
import { isPrivileged } from '#lib/contracts/principal.ts';
import type { EarlierAnswer, EarlierRecord } from '#lib/contracts/record-status.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { preferredMode, sendPage } from '#lib/http/send.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import { askedLanguage, keepQuery, withKeptQuery } from '#lib/pages/kept-query.ts';
import { staleSerial } from '../answer/answers.ts';
import { type SubmitResult, submitAnswers } from '../answer/submit.ts';
import { askingPage, formPage, presentForm } from '../present/form.ts';
import { readContext } from '../request/read-context.ts';
import { readEarlier, readTransactionWithEarlier } from '../standing/earlier-store.ts';
import { noSuchTransaction, requireAccess, requireOpen } from '../transaction/access.ts';
import { layoutReference } from '../transaction/context.ts';
import { mintFormLinks } from '../transaction/links.ts';
import { readNow } from '../transaction/store.ts';
import { type ReadTransaction, stateAt } from '../transaction/transaction.ts';
import type { Dependencies } from './dependencies.ts';
import {
  frameAncestors,
  readerLanguages,
  redirectToTransaction,
  sendTransaction,
  sendTransactionPage,
} from './send.ts';

/** /consents/{txid}/submit, /consents/preview */
export function formHandlers(dependencies: Dependencies) {
  const { db, forms, instance, embedOrigins } = dependencies;
  return {
    async getForm(ctx, input) {
      const { principal, mode, query } = input;
      const read = await openForm(dependencies, input);
      const { transaction, now } = read;
      if (stateAt(transaction, now) !== 'CREATED') {
        if (mode === 'html') return redirectToTransaction(ctx, dependencies, read, { principal });
        // Reading the form after the deadline is a 409, not a 410.
        return requireOpen(read, instance.baseUrl, 'wrong-state');
      }
      const showsAll = query.existingElementsVisible === 'true';
      const { links, ...form } = await formOf(ctx, dependencies, read, { principal, showsAll, mode });
      if (mode === 'html') return sendTransactionPage(ctx, dependencies, read, form);
      ctx.body = presentForm(transaction, await forms.readForm(form), links);
    },

    /** Answers as JSON or as a form post. */
    async submitAnswers(ctx, input) {
      // The error page of a form post past the deadline keeps the entered answers.
      if (input.form) ctx.state.enteredForm = input.body;
      const result = await submitAnswers(dependencies, {
        id: input.params.txid,
        principal: input.principal,
        body: input.body,
        form: input.form,
        language: askedLanguage(ctx.query.language),
        languages: readerLanguages(ctx, undefined, instance.language),
        gpc: await hasGpc(ctx, dependencies),
      });
      if (result.outcome === 'rejected') return reject(ctx, dependencies, input, result);
      if (input.form) return redirectToTransaction(ctx, dependencies, result.read, input, true);
      return sendTransaction(ctx, dependencies, result.read, input);
    },

    /**
     * The form of a context as its subject would see it. Without a subject there are no earlier answers, and
     * authors, who may not read those of people, have no other preview.
     */
    async previewForm(ctx, { body, principal }) {
      const hasSubject = typeof body.subject === 'string' && body.subject.trim() !== '';
      if (hasSubject && !isPrivileged(principal))
        throw fail('forbidden', 'You may only preview a form without a subject.');
      const { context } = readContext(
        hasSubject ? body : { ...body, subject: 'preview' },
        { ...principal, reach: principal.reach ?? 'read' },
        dependencies.messaging,
      );
      const { layout } = await forms.resolveLayout(layoutReference(context));
      const languages = readerLanguages(ctx, context.language, instance.language);
      const earlier =
        context.silent || !hasSubject
          ? []
          : await readEarlier(db, context.subject, context.object ?? '', layout.elements);
      const page = askingPage(
        { context, layout, parent: null },
        { earlier: earlier.map(toAnswer), now: await readNow(db) },
      );
      const colorScheme = askedColorScheme(ctx.query.colorScheme);
      const { html } = await forms.renderPage({ page, languages, colorScheme });
      sendPage(ctx, html, { frameAncestors: frameAncestors({ context }, embedOrigins) });
    },
  } satisfies OperationHandlers;
}

/**
 * Whether the browser sends Global Privacy Control (https://www.w3.org/TR/gpc/), or sent it when it opened
 * the form. The token in the links of the form keeps the signal.
 */
export async function hasGpc(
  ctx: Context,
  { tokens }: Pick<Dependencies, 'tokens'>,
  id: string | undefined = ctx.params.txid,
): Promise<boolean> {
  if (ctx.get('sec-gpc') === '1') return true;
  const token = transactionToken(ctx);
  const claims = token === undefined ? undefined : await tokens.verify(token);
  return claims?.gpc === true && claims.id === id;
}

/** Sends the form with the entered answers to a browser, and a problem with the faults to other clients. */
async function reject(
  ctx: Context,
  dependencies: Dependencies,
  input: Input<'submitAnswers'>,
  { check, read, answers }: Extract<SubmitResult, { outcome: 'rejected' }>,
): Promise<void> {
  if (!input.form || preferredMode(ctx.get('accept')) !== 'html') {
    const gpc = await hasGpc(ctx, dependencies);
    const { submit } = mintFormLinks(dependencies, read, { principal: input.principal, gpc });
    const task = keepQuery(submit, { language: ctx.query.language });
    if (check.outcome === 'stale') throw staleSerial(check.stale, answers, { members: { task } });
    throw fail('invalid-answer', 'The answers are not valid.', { errors: check.faults });
  }
  const opened = await openForm(dependencies, input);
  const { principal } = input;
  const page = await formOf(ctx, dependencies, opened, { principal, entered: { answers, check } });
  await sendTransactionPage(ctx, dependencies, read, page, check.outcome === 'stale' ? 409 : 422);
}

const toAnswer = ({ committedAt, expiresAt, ...answer }: EarlierRecord): EarlierAnswer => ({
  ...answer,
  committedAt: committedAt.toISOString(),
  expiresAt: expiresAt?.toISOString() ?? null,
});

/** A transaction with the subject's earlier answers. */
type OpenedForm = ReadTransaction & { earlier: EarlierAnswer[] };

/** Reads a transaction for its form. @throws Failure of `requireAccess`. */
export async function openForm(
  { db }: Dependencies,
  { params, principal, mode }: Pick<Input<'getForm'>, 'params' | 'principal' | 'mode'>,
): Promise<OpenedForm> {
  const read = await readTransactionWithEarlier(db, params.txid);
  if (!read) throw noSuchTransaction();
  // A browser is redirected from a closed form to the result, which a token opens for longer.
  const isClosed = mode === 'html' && stateAt(read.transaction, read.now) !== 'CREATED';
  requireAccess(principal, read, isClosed ? 'result' : 'task');
  return read;
}

/** What forms needs to draw or to describe the form of a transaction, and the links of the form. */
export async function formOf(
  ctx: Context,
  dependencies: Dependencies,
  read: OpenedForm,
  {
    principal,
    mode = 'html',
    showsAll = false,
    entered,
  }: Pick<Input<'getForm'>, 'principal'> &
    Partial<Pick<Input<'getForm'>, 'mode'>> &
    Pick<FormPage, 'entered'> & { showsAll?: boolean },
) {
  const { instance } = dependencies;
  const gpc = await hasGpc(ctx, dependencies);
  const minted = mintFormLinks(dependencies, read, { principal, gpc });
  const { language } = ctx.query;
  const links = withKeptQuery(minted, mode === 'html' ? ctx.query : { language });
  return {
    page: formPage(read, { links, baseUrl: instance.baseUrl, showsAll, gpc, entered }),
    languages: readerLanguages(ctx, read.transaction.context.language, instance.language),
    links,
  };
}
