import type { Context } from 'koa';
import { transactionToken } from '#lib/auth/authenticate.ts';
import type { ErrorPage } from '#lib/contracts/pages.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Failure } from '#lib/errors/fail.ts';
import type { RenderErrorPage } from '#lib/http/handle-errors.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import { keepQuery, withKeptQuery } from '#lib/pages/kept-query.ts';
import { mintFormLinks } from '../transaction/links.ts';
import { readTransaction } from '../transaction/store.ts';
import type { ReadTransaction } from '../transaction/transaction.ts';
import { renderEntry } from './choices-links.ts';
import type { Dependencies } from './dependencies.ts';
import { hasGpc } from './forms.ts';
import { frameAncestors, readerLanguages } from './send.ts';

/** Codes whose page may tell of the transaction: they only occur after the access check. */
const tellingCodes = new Set<Failure['code']>(['wrong-state', 'expired', 'withdrawn']);

/** The page of a failure below /consents, with a link to the transaction or its child if possible. */
export function renderErrorPage(dependencies: Dependencies): RenderErrorPage {
  const { db, forms, embedOrigins, instance } = dependencies;
  return async (ctx, failure) => {
    // Without a session, the choices are asked for; after its end, again.
    if (failure.code === 'unauthorized' && /^\/choices(\/|$)/.test(ctx.path)) {
      const stage = ctx.query.ended === undefined ? 'ask' : 'ended';
      return {
        html: await renderEntry(ctx, dependencies, { stage }),
        frameAncestors: frameAncestors(undefined, embedOrigins),
      };
    }
    const id = /^\/consents\/([^/]+)/.exec(ctx.path)?.[1];
    const read = id && tellingCodes.has(failure.code) ? await readTransaction(db, id) : undefined;
    const isOver =
      id !== undefined && failure.code === 'not-found' && (await isForgotten(ctx, dependencies, id));
    const languages = readerLanguages(ctx, read?.transaction.context.language, instance.language);
    const retryAfter = failure.headers['Retry-After'];
    const page: ErrorPage = {
      page: 'error',
      code: failure.code,
      ...(isOver && { isOver }),
      ...(!isOver && choicesAfter(ctx, dependencies, failure)),
      iframeOrigin: read?.transaction.context.iframeOrigin,
      ...(retryAfter && { retryAfter: Number(retryAfter) }),
      ...(read && {
        layout: read.transaction.layout,
        entered: ctx.state.enteredForm,
        links: linksOn(dependencies, read, failure, {
          principal: ctx.state.principal,
          gpc: await hasGpc(ctx, dependencies, id),
          query: ctx.query,
        }),
      }),
    };
    const colorScheme = askedColorScheme(ctx.query.colorScheme);
    const { html } = await forms.renderPage({ page, languages, colorScheme });
    return { html, frameAncestors: frameAncestors(read?.transaction, embedOrigins) };
  };
}

/** Where a person whose link does not work can ask for another one: by mail alone. */
function choicesAfter(
  ctx: Context,
  { messaging, instance }: Pick<Dependencies, 'messaging' | 'instance'>,
  { code }: Failure,
): { choices?: string } {
  const isBroken = code === 'unauthorized' || code === 'not-found';
  const isPersons = /^\/(consents|receipts|l)\//.test(ctx.path);
  if (!isBroken || !isPersons || messaging.channels.mail === null) return {};
  return { choices: keepQuery(`${instance.baseUrl}/choices`, ctx.query) };
}

/** Whether a request has a token of a transaction that a stranger has not finished in time. */
async function isForgotten(ctx: Context, { db, tokens }: Dependencies, id: string): Promise<boolean> {
  const token = transactionToken(ctx);
  const claims = token === undefined ? undefined : await tokens.verify(token);
  return claims?.id === id && (await readTransaction(db, id)) === undefined;
}

function linksOn(
  dependencies: Dependencies,
  read: ReadTransaction,
  failure: Failure,
  { query, ...caller }: { principal: Principal | undefined; gpc: boolean; query: Context['query'] },
) {
  const links = withKeptQuery(mintFormLinks(dependencies, read, caller), query);
  const { child, transaction } = links;
  const isRestartable = failure.code === 'expired' && read.transaction.context.updatable;
  // No link to the transaction for `withdrawn`, because it leads to the form, which fails in the same way,
  // and none for `expired`, where the child is the way on.
  const hasNext = failure.code === 'wrong-state';
  return { child: isRestartable ? child : null, transaction: hasNext ? transaction : null };
}
