import type { Context } from 'koa';
import { unauthorized } from '#lib/auth/authenticate.ts';
import type { ChoicesPage } from '#lib/contracts/pages.ts';
import { type ChoicesSession, isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { preferredMode } from '#lib/http/send.ts';
import { keepQuery } from '#lib/pages/kept-query.ts';
import { requireWhole } from '../choices/brought.ts';
import { changeChoices } from '../choices/change-choices.ts';
import { endAll, openSession } from '../choices/open-session.ts';
import { readChoices } from '../choices/read-choices.ts';
import { isFresh, sessionExpiry } from '../choices/session.ts';
import { readSubject, type Subject } from '../person/store.ts';
import { mintLinks } from '../transaction/links.ts';
import { readNow } from '../transaction/store.ts';
import { presentOwn, readElsewhere, sendChoices } from './choices-page.ts';
import type { Dependencies } from './dependencies.ts';
import { firstOf, readText } from './filters.ts';
import { redirectFrame, sendTransaction } from './send.ts';
import { sendExport } from './subject-export.ts';

/** /choices, /choices/change, /choices/export, /choices/end */
export function choicesHandlers(dependencies: Dependencies) {
  const { db, instance, choices } = dependencies;
  return {
    async getChoices(ctx, { query, principal, mode }) {
      ctx.vary('Cookie');
      const subject = await requirePerson(dependencies, principal, readText(query.subject));
      const read = subject ? await readChoices(dependencies, subject.name, principal.choices) : [];
      const known = { subject, read, principal };
      if (mode === 'html') return sendChoices(ctx, dependencies, known);
      const { peers, leaders } = await readElsewhere(dependencies, known);
      const organisations = [await presentOwn(dependencies, read, principal), ...peers];
      ctx.body = { organisations, ...(leaders.length > 0 && { leaders }) };
    },

    async openChoices(ctx, { body, principal }) {
      const session = await openSession(db, principal, body ?? {});
      const url = choices.urlOf(ctx, '', { session, now: session.startedAt });
      ctx.status = 201;
      ctx.set('Location', url);
      ctx.body = { url, expires: sessionExpiry(session, session.startedAt).toISOString() };
    },

    async changeChoices(ctx, { principal, ...sent }) {
      requireWhole(principal.choices);
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
      requireWhole(session);
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
