import type { Context } from 'koa';
import { unauthorized } from '#lib/auth/authenticate.ts';
import type { ChoicesPage } from '#lib/contracts/pages.ts';
import { type ChoicesSession, isPrivileged, isReader, type Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { preferredMode, sendPage } from '#lib/http/send.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import { keepQuery } from '#lib/pages/kept-query.ts';
import { changeChoices } from '../choices/change-choices.ts';
import type { Choice } from '../choices/choice.ts';
import { endAll, openSession } from '../choices/open-session.ts';
import { readChoices, readSentParts } from '../choices/read-choices.ts';
import { sentAnswers } from '../choices/sent-answers.ts';
import { isFresh, sessionExpiry } from '../choices/session.ts';
import { presentExportFacts } from '../export/present.ts';
import { listTransactionIds, readExportFacts } from '../export/store.ts';
import { readSubject, type Subject } from '../person/store.ts';
import { presentChoice, presentSent } from '../present/choices.ts';
import { mintLinks } from '../transaction/links.ts';
import { readNow } from '../transaction/store.ts';
import { firstOf, readText } from './filters.ts';
import type { Dependencies } from './handlers.ts';
import { readerLanguages, redirectFrame, sendTransaction } from './send.ts';
import { sendExport } from './subject-export.ts';

/** How many lines of the audit log the page has, and of how many transactions; the export has more. */
const auditLines = 50;
const auditedTransactions = 50;

/** /choices, /choices/change, /choices/export, /choices/end */
export function choicesHandlers(dependencies: Dependencies) {
  const { db, instance, choices } = dependencies;
  return {
    async getChoices(ctx, { query, principal, mode }) {
      ctx.vary('Cookie');
      const subject = await requirePerson(dependencies, principal, readText(query.subject));
      const read = subject ? await readChoices(dependencies, subject.name) : [];
      if (mode === 'html') return sendChoices(ctx, dependencies, { subject, read, principal });
      const peers = subject ? await readPeers(dependencies, subject) : [];
      ctx.body = { organisations: [await presentOwn(dependencies, read, principal), ...peers] };
    },

    async openChoices(ctx, { body, principal }) {
      const session = await openSession(db, principal, body ?? {});
      const url = choices.urlOf(ctx, '', { session, now: session.startedAt });
      ctx.status = 201;
      ctx.set('Location', url);
      ctx.body = { url, expires: sessionExpiry(session, session.startedAt).toISOString() };
    },

    async changeChoices(ctx, { principal, ...sent }) {
      const { subject = '' } = principal;
      const { elements = [], object, renew } = sent.body;
      const read = await changeChoices(dependencies, principal, {
        subject,
        elements,
        object: readText(firstOf(object)) ?? '',
        renews: renew !== undefined && renew !== false,
        language: principal.choices?.frame?.language,
      });
      if (!sent.form && preferredMode(ctx.get('accept')) !== 'html')
        return sendTransaction(ctx, dependencies, read, { principal }, 201);
      redirectFrame(ctx, keepQuery(mintLinks(dependencies, read).submit, ctx.query));
    },

    async exportChoices(ctx, { query, principal, mode }) {
      const session = sessionOf(principal);
      const subject = await readSubject(db, principal.subject ?? '');
      if (!subject) throw fail('not-found', 'Subject not found.');
      if (!isFresh(session, await readNow(db)))
        throw unauthorized('Everything is shown in the first 15 minutes of a session. Ask for another link.');
      const url = `${instance.baseUrl}/choices/export`;
      await sendExport(ctx, dependencies, subject, { query, mode, url });
    },

    async endChoices(ctx, { principal, form }) {
      await endAll(db, sessionOf(principal));
      choices.forget(ctx);
      if (form || preferredMode(ctx.get('accept')) === 'html')
        return redirectFrame(ctx, withParameter(choices.urlOf(ctx, ''), 'ended'));
      ctx.status = 204;
    },
  } satisfies OperationHandlers;
}

function sessionOf({ choices }: Principal): ChoicesSession {
  if (!choices) throw unauthorized('A session of choices is required.');
  return choices;
}

/**
 * The person whose choices are read; undefined if nothing is known of it.
 * @throws Failure `forbidden` for somebody else's; `invalid` if staff name nobody.
 */
async function requirePerson(
  { db }: Dependencies,
  principal: Principal,
  named: string | undefined,
): Promise<Subject | undefined> {
  if (!isPrivileged(principal)) {
    if (named !== undefined && named !== principal.subject)
      throw fail('forbidden', 'You may only read your own choices.');
    return readSubject(db, principal.subject ?? '');
  }
  if (named === undefined)
    throw fail('invalid', 'The query is not valid.', {
      errors: [{ pointer: '/subject', code: 'required', detail: 'is required' }],
    });
  return readSubject(db, named);
}

async function presentOwn({ db, instance, tokens }: Dependencies, read: Choice[], principal: Principal) {
  const shown = {
    baseUrl: instance.baseUrl,
    tokens: isReader(principal) ? undefined : tokens,
    now: await readNow(db),
  };
  return {
    name: instance.name,
    location: instance.baseUrl,
    choices: read.map((choice) => presentChoice(choice, shown)),
  };
}

/** The answers that went to peers. */
async function readPeers({ db }: Dependencies, { name }: Subject) {
  return sentAnswers(await readSentParts(db, name)).map(presentSent);
}

async function sendChoices(
  ctx: Context,
  dependencies: Dependencies,
  { subject, read, principal }: { subject: Subject | undefined; read: Choice[]; principal: Principal },
): Promise<void> {
  const { db, forms, instance, embedOrigins, choices } = dependencies;
  const now = await readNow(db);
  const session = principal.choices;
  if (session) choices.renew(ctx, session, now);
  const own = await presentOwn(dependencies, read, principal);
  const ids = subject ? await listTransactionIds(db, subject.name, auditedTransactions) : [];
  const facts = subject && presentExportFacts(await readExportFacts(db, subject, ids));
  const urlOf = (path: Parameters<typeof choices.urlOf>[1]) =>
    choices.urlOf(ctx, path, session && { session, now });
  const page: ChoicesPage = {
    page: 'choices',
    own,
    peers: subject ? await readPeers(dependencies, subject) : [],
    shown: read.map(({ consent }) => consent ?? null),
    audit: (facts?.audit ?? []).slice(0, auditLines),
    erasures: facts?.erasures ?? [],
    done: doneIn(ctx),
    isFresh: session !== undefined && isFresh(session, now),
    inFrame: session?.frame?.iframeOrigin !== undefined || ctx.get('sec-fetch-dest') === 'iframe',
    ...(session?.frame?.returnUrl && { returnUrl: session.frame.returnUrl }),
    ...(session && {
      links: {
        withdraw: urlOf('/withdraw'),
        change: urlOf('/change'),
        erasure: urlOf('/erasure'),
        export: urlOf('/export'),
        end: urlOf('/end'),
        again: choices.urlOf(ctx, ''),
      },
    }),
  };
  const { html } = await forms.renderPage({
    page,
    languages: readerLanguages(ctx, session?.frame?.language, instance.language),
    colorScheme: askedColorScheme(ctx.query.colorScheme),
  });
  ctx.vary('Accept-Language');
  sendPage(ctx, html, {
    formTargets: [instance.baseUrl],
    ...(session?.frame && { frameAncestors: `'self' ${session.frame.iframeOrigin ?? embedOrigins}` }),
  });
}

const acts = ['withdrawn', 'objected', 'erasure'] as const;

/** What was just done, which the page confirms. */
function doneIn(ctx: Context): ChoicesPage['done'] {
  const done = [ctx.query.done].flat()[0];
  return acts.find((act) => act === done) ?? null;
}

/** Leads back to the choices after a form post. @param done what the page confirms. */
export function redirectToChoices(
  ctx: Context,
  { choices }: Dependencies,
  principal: Principal,
  { done, now }: { done: NonNullable<ChoicesPage['done']>; now: Date },
): void {
  const session = principal.choices;
  const url = choices.urlOf(ctx, '', session && { session, now });
  redirectFrame(ctx, withParameter(url, `done=${done}`));
}

const withParameter = (url: string, parameter: string) =>
  `${url}${url.includes('?') ? '&' : '?'}${parameter}`;
