import type { Context } from 'koa';
import { transactionToken } from '#lib/auth/authenticate.ts';
import type { FormChange } from '#lib/contracts/form-content.ts';
import type { DescribedElement, FormDescription, FormsOperations } from '#lib/contracts/forms.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { preferredMode, sendPage } from '#lib/http/send.ts';
import { withColorScheme } from '#lib/pages/color-scheme.ts';
import { staleSerial } from '../answer/answers.ts';
import { type SubmitResult, submitAnswers } from '../answer/submit.ts';
import {
  type FilledForm,
  fillForm,
  formPage,
  outdatedItems,
  outlineOf,
  presentForm,
  previewPage,
  questionsPage,
  withChanges,
} from '../present/form-page.ts';
import { keepAnswers, shownIn } from '../present/form-retry.ts';
import { frameAncestors } from '../present/page-parts.ts';
import { consentNotices } from '../receipts/notices.ts';
import { readContext } from '../request/read-context.ts';
import { readEarlier, readTransactionWithEarlier } from '../standing/earlier-store.ts';
import { type EarlierRecord, validRecords } from '../standing/status.ts';
import { noSuchTransaction, requireAccess, requireOpen } from '../transaction/access.ts';
import { layoutReference } from '../transaction/context.ts';
import { type Links, mintFormLinks } from '../transaction/links.ts';
import { readNow } from '../transaction/store.ts';
import {
  hidesAnswered,
  peersMayStayUnanswered,
  type ReadTransaction,
  stateAt,
} from '../transaction/transaction.ts';
import type { Dependencies } from './handlers.ts';
import {
  readerLanguages,
  redirectToTransaction,
  sendRendered,
  sendTransaction,
  sendTransactionPage,
} from './send.ts';

/** /consents/{txid}/submit, /consents/preview */
export function formHandlers(dependencies: Dependencies) {
  const { db, forms, instance, defaultLanguage, embedOrigins } = dependencies;
  return {
    async getForm(ctx, input) {
      const { principal, mode } = input;
      const isShown = () => input.query.existingElementsVisible === 'true';
      const opened = await openForm(ctx, dependencies, input, isShown);
      const { read } = opened;
      if (stateAt(read.transaction, read.now) !== 'CREATED') {
        if (mode === 'html') return redirectToTransaction(ctx, dependencies, read, { principal });
        // Reading the form after the deadline is a 409, not a 410.
        return requireOpen(read, instance.baseUrl, 'wrong-state');
      }
      const gpc = await hasGpc(ctx, dependencies);
      const links = mintFormLinks(dependencies, read, { principal, gpc });
      if (mode === 'html') return sendForm(ctx, dependencies, opened, { links, gpc });
      const form = await opened.describe();
      const labels = await forms.labelForm({ page: questionsPage(read, { form, links, instance }) });
      ctx.body = presentForm(read.transaction, form, labels, links);
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
        languages: readerLanguages(ctx, undefined, defaultLanguage),
        gpc: await hasGpc(ctx, dependencies),
      });
      if (result.outcome === 'rejected') return reject(ctx, dependencies, input, result);
      if (input.form) return redirectToTransaction(ctx, dependencies, result.read, input, true);
      return sendTransaction(ctx, dependencies, result.read, input);
    },

    /** The form of a context as its subject would see it. Without a subject there are no earlier answers. */
    async previewForm(ctx, { body, principal }) {
      const hasSubject = typeof body.subject === 'string' && body.subject.trim() !== '';
      const { context } = readContext(
        hasSubject ? body : { ...body, subject: 'preview' },
        principal,
        dependencies.messaging,
      );
      const { layout } = await forms.resolveLayout(layoutReference(context));
      const languages = readerLanguages(ctx, context.language, defaultLanguage);
      const description = await forms.describeForm({ layout, languages });
      const earlier =
        context.silent || !hasSubject
          ? []
          : await readEarlier(db, context.subject, context.object ?? '', layout.elements);
      const { active, elements } = description;
      const valid = validRecords(earlier, { active, notices: consentNotices(elements) }, await readNow(db));
      const hides = () => hidesAnswered({ layout, context, parent: null });
      const peersOptional = peersMayStayUnanswered({ context, parent: null });
      const form = fillForm(description, valid, { hides, peersOptional });
      const page = previewPage(form, { context, layout }, instance);
      const { html } = await forms.renderPage({ model: withColorScheme(page, ctx.query.colorScheme) });
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
  const gpc = await hasGpc(ctx, dependencies);
  const links = mintFormLinks(dependencies, read, { principal: input.principal, gpc });
  if (!input.form || preferredMode(ctx.get('accept')) !== 'html') {
    if (check.outcome === 'stale')
      throw staleSerial(check.stale, answers, { members: { task: links.submit } });
    throw fail('invalid-answer', 'The answers are not valid.', { errors: check.faults });
  }
  const opened = await openForm(ctx, dependencies, input, shownIn(answers));
  const form = await opened.describe();
  const retry = keepAnswers(check, answers, form);
  const shown = { form, links, instance: dependencies.instance, retry, gpc };
  const page = formPage(opened.read, shown);
  await sendTransactionPage(ctx, dependencies, read, page, check.outcome === 'stale' ? 409 : 422);
}

/**
 * Fast path: a form that was described before is rendered in one call to forms, if its description is still
 * the same (ADR 12). Three kinds do not take it: forms with elements of peers that need no answer, forms with
 * hidden elements only, and forms whose earlier answers are to a former MAJOR or under another information.
 */
async function sendForm(
  ctx: Context,
  dependencies: Dependencies,
  { read, languages, known, describe }: OpenedForm,
  { links, gpc }: { links: Links; gpc: boolean },
): Promise<void> {
  const { forms, instance } = dependencies;
  const { layout } = read.transaction;
  const hasOptionalPeers =
    peersMayStayUnanswered(read.transaction) && layout.elements.some((key) => key.includes('@'));
  const guess = hasOptionalPeers ? undefined : known();
  const page = guess && formPage(read, { form: guess, links, instance, gpc });
  if (guess && page?.page === 'form') {
    const { revision } = guess;
    const outline = outlineOf(withColorScheme(page, ctx.query.colorScheme));
    const { html } = await forms.renderForm({ layout, languages, revision, page: outline });
    if (html !== null) return sendRendered(ctx, dependencies, read, html);
  }
  const model = formPage(read, { form: await describe(), links, instance, gpc });
  return sendTransactionPage(ctx, dependencies, read, model);
}

/** Keys of informations under which the subject answered in other forms: their versions are needed too. */
function informationsElsewhere({ active }: FormDescription, earlier: readonly EarlierRecord[]): string[] {
  const keys = new Set(earlier.map(({ infoKey }) => infoKey));
  return [...keys].filter((key) => !Object.hasOwn(active, key));
}

/** What has changed since the subject answered the form's items, by identifier; usually nothing. */
async function readChanges(
  forms: Pick<FormsOperations, 'compareVersions'>,
  description: FormDescription,
  earlier: readonly EarlierRecord[],
): Promise<Map<string, FormChange>> {
  const pairs = outdatedItems(description, earlier);
  if (pairs.length === 0) return new Map();
  const { language } = description;
  const { fields } = await forms.compareVersions({ pairs, language });
  return new Map(
    pairs.flatMap(({ from, to, since }, index) =>
      fields[index]?.length ? [[to, { from, since, fields: fields[index] }]] : [],
    ),
  );
}

/** A transaction that the caller may read, and its form. */
interface OpenedForm {
  read: ReadTransaction;
  languages: string[];
  describe(): Promise<FilledForm>;
  /**
   * The form by its last known description, which may be outdated; undefined if there is none, or if the form
   * must be described first: an answered item has another MAJOR, or was answered under another information.
   */
  known(): FilledForm | undefined;
}

/**
 * Reads a transaction with the subject's earlier answers.
 * @param isShown whether to show an element although the layout hides elements with a valid answer.
 * @throws Failure of `requireAccess`; `describe` throws `withdrawn`.
 */
export async function openForm(
  ctx: Context,
  { db, forms, knownForms, defaultLanguage }: Dependencies,
  { params, principal, mode }: Pick<Input<'getForm'>, 'params' | 'principal' | 'mode'>,
  isShown: (identifier: string) => boolean,
): Promise<OpenedForm> {
  const read = await readTransactionWithEarlier(db, params.txid);
  if (!read) throw noSuchTransaction();
  const { transaction, earlier } = read;
  const { layout } = transaction;
  // A browser is redirected from a closed form to the result, which a token opens for longer.
  const isClosed = mode === 'html' && stateAt(transaction, read.now) !== 'CREATED';
  requireAccess(principal, read, isClosed ? 'result' : 'task');
  const languages = readerLanguages(ctx, transaction.context.language, defaultLanguage);
  const formKey = JSON.stringify([layout, languages]);
  const fill = (description: FormDescription, active = description.active) => {
    const notices = consentNotices(description.elements);
    const valid = validRecords(earlier, { active, notices }, read.now);
    const hides = ({ identifier }: DescribedElement) => hidesAnswered(transaction) && !isShown(identifier);
    return fillForm(description, valid, { hides, peersOptional: peersMayStayUnanswered(transaction) });
  };
  return {
    read,
    languages,
    async describe() {
      const description = await forms.describeForm({ layout, languages });
      knownForms.set(formKey, description);
      const others = informationsElsewhere(description, earlier);
      const active =
        others.length > 0
          ? { ...description.active, ...(await forms.activeVersions({ keys: others })) }
          : description.active;
      return withChanges(fill(description, active), await readChanges(forms, description, earlier));
    },
    known() {
      const description = knownForms.get(formKey);
      if (!description || outdatedItems(description, earlier).length > 0) return undefined;
      return informationsElsewhere(description, earlier).length > 0 ? undefined : fill(description);
    },
  };
}
