import type { ErrorPage } from '#lib/contracts/pages.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Failure } from '#lib/errors/fail.ts';
import type { RenderErrorPage } from '#lib/http/handle-errors.ts';
import { problemStatus } from '#lib/http/problem.ts';
import { withColorScheme } from '#lib/pages/color-scheme.ts';
import { enteredFields } from '../present/form-retry.ts';
import { frameAncestors, readAsker } from '../present/page-parts.ts';
import { mintFormLinks } from '../transaction/links.ts';
import { readTransaction } from '../transaction/store.ts';
import type { ReadTransaction } from '../transaction/transaction.ts';
import { hasGpc } from './forms.ts';
import type { Dependencies } from './handlers.ts';
import { readerLanguages } from './send.ts';

/** Codes whose page may tell of the transaction: they only occur after the access check. */
const tellingCodes = new Set<Failure['code']>(['wrong-state', 'expired', 'withdrawn']);

/** The page of a failure below /consents, with a link to the transaction or its child if possible. */
export function renderErrorPage(dependencies: Dependencies): RenderErrorPage {
  const { db, forms, instance, embedOrigins, defaultLanguage } = dependencies;
  return async (ctx, failure) => {
    const id = /^\/consents\/([^/]+)/.exec(ctx.path)?.[1];
    const read = id && tellingCodes.has(failure.code) ? await readTransaction(db, id) : undefined;
    const languages = readerLanguages(ctx, read?.transaction.context.language, defaultLanguage);
    const retryAfter = failure.headers['Retry-After'];
    const links = read
      ? linksOn(dependencies, read, failure, {
          principal: ctx.state.principal,
          gpc: await hasGpc(ctx, dependencies, id),
        })
      : { child: null, transaction: null };
    const hasLink = Object.values(links).some((link) => link !== null);
    const asker = read && (await readAsker(forms, read, languages));
    const page: ErrorPage = {
      page: 'error',
      status: problemStatus[failure.code].status,
      code: failure.code,
      language: languages[0] as string,
      instance,
      theme: null,
      embedding: null,
      iframeOrigin: read?.transaction.context.iframeOrigin,
      ...(retryAfter ? { retryAfter: Number(retryAfter) } : {}),
      links,
      entered: read && links.child ? enteredFields(ctx.state.enteredForm ?? {}, read.transaction.layout) : [],
      // Without a link, the page names a contact.
      contact: hasLink ? null : (asker?.contact ?? null),
      asker: asker?.asker ?? null,
    };
    const { html } = await forms.renderPage({ model: withColorScheme(page, ctx.query.colorScheme) });
    return { html, frameAncestors: frameAncestors(read?.transaction, embedOrigins) };
  };
}

function linksOn(
  dependencies: Dependencies,
  read: ReadTransaction,
  failure: Failure,
  caller: { principal: Principal | undefined; gpc: boolean },
) {
  const { child, transaction } = mintFormLinks(dependencies, read, caller);
  const isRestartable = failure.code === 'expired' && read.transaction.context.updatable;
  // No link to the transaction for `withdrawn`, because it leads to the form, which fails in the same way,
  // and none for `expired`, where the child is the way on.
  const hasNext = failure.code === 'wrong-state';
  return { child: isRestartable ? child : null, transaction: hasNext ? transaction : null };
}
