import type { Middleware } from 'koa';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { sendPage } from '#lib/http/security-headers.ts';
import type { Pages } from '../pages/create-pages.ts';

/**
 * Refuses authorization requests that oidc-provider would take and this issuer must not:
 * - the response mode `form_post`, whose page submits itself with an inline script, which no page of ours may have (security.md,
 *   "Pages"); oidc-provider cannot leave it out by itself, not even of its metadata;
 * - a NUL, which PostgreSQL's jsonb does not store;
 * - more of one address than it may begin in a minute, because each is stored until the person has signed in or ten minutes are over.
 */
export function guardAuthorization({
  issuerPath,
  pages,
  limiter,
}: {
  issuerPath: string;
  pages: Pages;
  limiter: Pick<RateLimiter, 'countAuthorization'>;
}): Middleware {
  return async (ctx, next) => {
    const begins = ctx.path === `${issuerPath}/authorize`;
    const fault = begins ? faultIn(ctx.querystring) : undefined;
    if (fault) {
      const html = pages.render(ctx, 'error', { text: 'error.request', code: fault });
      return sendPage(ctx, html, { status: 400 });
    }
    if (begins) await limiter.countAuthorization(ctx);
    await next();
    const metadata = ctx.body as { response_modes_supported?: string[] } | undefined;
    if (metadata?.response_modes_supported) metadata.response_modes_supported = ['query'];
  };
}

function faultIn(query: string): string | undefined {
  if (new URLSearchParams(query).getAll('response_mode').includes('form_post'))
    return 'unsupported_response_mode: form_post';
  return /%00/.test(query) ? 'invalid_request: NUL' : undefined;
}
