import type { Context, Middleware, Next } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Failure } from '#lib/errors/fail.ts';
import { pointInto, problemStatus, toFailure, toProblem } from '#lib/http/problem.ts';
import { setCommonHeaders } from '#lib/http/security-headers.ts';
import { preferredMode, sendPage } from '#lib/http/send.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { keepQuery } from '#lib/pages/kept-query.ts';

/**
 * Renders the page of a failure in the reader's language. If it rejects, the problem document is sent
 * instead.
 */
export type RenderErrorPage = (
  ctx: Context,
  failure: Failure,
) => Promise<{ html: string; frameAncestors?: string }>;

/**
 * Error middleware: answers with a problem document, or with a page of the same status for browsers
 * (docs/interface.md, "Errors"). Logs causes; clients never see them.
 */
export function handleErrors({
  baseUrl,
  log,
  renderErrorPage,
}: {
  baseUrl: string;
  log: Logger;
  renderErrorPage?: RenderErrorPage;
}): Middleware {
  const renderCached = renderErrorPage && cachePages(renderErrorPage);
  const secure = baseUrl.startsWith('https:');
  return async (ctx: Context, next: Next) => {
    setCommonHeaders(ctx, secure);
    try {
      await next();
    } catch (error) {
      const failure = toFailure(error);
      // The metrics count the requests that are rejected because of overload; to log each would add to it.
      if (problemStatus[failure.code].status >= 500 && !failure.overload) logFailure(log, ctx, failure);
      await sendFailure(ctx, failure, baseUrl, log, failure.overload ? renderCached : renderErrorPage);
    }
  };
}

/**
 * Caches the pages of rejections under overload by all that they depend on: Retry-After, color scheme and
 * languages.
 */
function cachePages(render: RenderErrorPage): RenderErrorPage {
  const pages = new LRUCache<string, ReturnType<RenderErrorPage>>({ max: 200, ttl: 600_000 });
  return (ctx, failure) => {
    const shown = keepQuery('', ctx.query);
    const key = `${failure.headers['Retry-After']} ${shown} ${ctx.get('accept-language')}`;
    let page = pages.get(key);
    if (!page) {
      page = render(ctx, failure);
      pages.set(key, page);
      page.catch(() => pages.delete(key));
    }
    return page;
  };
}

async function sendFailure(
  ctx: Context,
  failure: Failure,
  baseUrl: string,
  log: Logger,
  render?: RenderErrorPage,
) {
  ctx.set(failure.headers);
  ctx.vary('Accept');
  const { status } = problemStatus[failure.code];
  if (render && wantsPage(ctx)) {
    try {
      const page = await render(ctx, failure);
      return sendPage(ctx, page.html, {
        status,
        frameAncestors: page.frameAncestors,
        formTargets: [baseUrl],
      });
    } catch (error) {
      log.error('failed to render an error page; sending the problem document', {
        requestId: ctx.state.requestId,
        error,
      });
    }
  }
  ctx.status = status;
  ctx.type = 'application/problem+json';
  ctx.body = JSON.stringify(toProblem(pointInto(ctx.state.sent, failure), baseUrl, ctx.path));
}

/**
 * Whether to send a page. For operations that produce only HTML, a wildcard in Accept means a page
 * (docs/interface.md).
 */
function wantsPage(ctx: Context): boolean {
  const mode = preferredMode(ctx.get('accept'));
  return (
    mode === 'html' || (mode === 'json' && ctx.state.htmlOnly === true && !/json/i.test(ctx.get('accept')))
  );
}

function logFailure(log: Logger, ctx: Context, failure: Failure): void {
  log.error('request failed', {
    requestId: ctx.state.requestId,
    operation: ctx.state.operationId,
    method: ctx.method,
    code: failure.code,
    error: failure.cause ?? failure,
  });
}
