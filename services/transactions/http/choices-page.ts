import type { Context } from 'koa';
import type { ChoicesPage } from '#lib/contracts/pages.ts';
import { isPrivileged, isReader, type Principal } from '#lib/contracts/principal.ts';
import { sendPage } from '#lib/http/send.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import { readLeaders } from '../choices/brought.ts';
import type { Choice } from '../choices/choice.ts';
import { readSentParts } from '../choices/read-choices.ts';
import { sentAnswers } from '../choices/sent-answers.ts';
import { isFresh } from '../choices/session.ts';
import { presentExportFacts } from '../export/present.ts';
import { listTransactionIds, readExportFacts } from '../export/store.ts';
import type { Subject } from '../person/store.ts';
import { pageWithPart, presentChoice, presentSent } from '../present/choices.ts';
import type { Part } from '../sent-parts/part.ts';
import { readNow } from '../transaction/store.ts';
import type { Dependencies } from './dependencies.ts';
import { hereOf, readerLanguages } from './send.ts';

/** How many lines of the audit log the page has, and of how many transactions; the export has more. */
const auditLines = 50;
const auditedTransactions = 50;

/** What is known of a person. */
interface Known {
  /** Undefined if nothing is. */
  subject: Subject | undefined;
  read: Choice[];
  principal: Principal;
}

/** The answers of the person at this instance. */
export async function presentOwn(
  { db, instance, tokens }: Dependencies,
  read: Choice[],
  principal: Principal,
) {
  const shown = {
    baseUrl: instance.baseUrl,
    tokens: isReader(principal) ? undefined : tokens,
    isWhole: principal.choices?.address === undefined,
    now: await readNow(db),
  };
  return {
    name: instance.name,
    location: instance.baseUrl,
    choices: read.map((choice) => presentChoice(choice, shown)),
  };
}

/**
 * The peers that keep answers which were given here, and those whose forms brought answers here. Links to the
 * pages of peers are for the person alone.
 */
export async function readElsewhere(
  { db, forms }: Pick<Dependencies, 'db' | 'forms'>,
  { subject, principal }: Pick<Known, 'subject' | 'principal'>,
): Promise<Pick<ChoicesPage, 'peers' | 'leaders'>> {
  if (!subject) return { peers: [], leaders: [] };
  const scope = principal.choices;
  const [parts, leaders] = await Promise.all([
    scope?.address === undefined ? readSentParts(db, subject.name) : [],
    readLeaders(db, subject.name, scope),
  ]);
  const sent = sentAnswers(parts);
  const urls = isPrivileged(principal) ? [] : [...sent, ...leaders].map(({ location }) => location);
  const { choices: pages } = urls.length > 0 ? await forms.peerChoices({ urls }) : { choices: {} };
  return {
    peers: sent.map((each) => presentSent(each, pages[each.location])),
    leaders: leaders.map(({ name, location }) => {
      const page = pages[location];
      return { name, location, ...(page && { page }) };
    }),
  };
}

/** Where the owners of these parts show the person the answers that they have stored; null if nowhere. */
export async function readChoicesAt(
  { forms }: Pick<Dependencies, 'forms'>,
  parts: readonly Part[],
): Promise<(string | null)[]> {
  const urls = parts.flatMap(({ state, location }) => (state === 'ACCEPTED' ? location : []));
  const { choices: pages } = urls.length > 0 ? await forms.peerChoices({ urls }) : { choices: {} };
  return parts.map((part) => {
    const page = part.state === 'ACCEPTED' ? pages[part.location] : undefined;
    return page === undefined ? null : pageWithPart(page, part);
  });
}

/** Sends the page "My choices". */
export async function sendChoices(
  ctx: Context,
  dependencies: Dependencies,
  { subject, read, principal }: Known,
): Promise<void> {
  const { db, forms, instance, embedOrigins, choices } = dependencies;
  const now = await readNow(db);
  const session = principal.choices;
  if (session) choices.renew(ctx, session, now);
  const own = await presentOwn(dependencies, read, principal);
  const isWhole = session?.address === undefined;
  const { peers, leaders } = await readElsewhere(dependencies, { subject, principal });
  const ids = subject && isWhole ? await listTransactionIds(db, subject.name, auditedTransactions) : [];
  const facts = subject && isWhole && presentExportFacts(await readExportFacts(db, subject, ids));
  const urlOf = (path: Parameters<typeof choices.urlOf>[1]) =>
    choices.urlOf(ctx, path, session && { session, now });
  const page: ChoicesPage = {
    page: 'choices',
    own,
    peers,
    leaders,
    isWhole,
    shown: read.map(({ consent }) => consent ?? null),
    audit: (facts ? facts.audit : []).slice(0, auditLines),
    erasures: facts ? facts.erasures : [],
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
    here: hereOf(ctx, dependencies),
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
