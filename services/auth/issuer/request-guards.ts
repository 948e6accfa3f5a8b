import type { Middleware } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { readBodyOf } from '#lib/http/read-input.ts';
import { sendPage } from '#lib/http/send.ts';
import { maxFormBytes, type Pages } from './render-pages.ts';

/** Pages with a form besides those of a sign-in. */
export const pagesOfForms = ['/setup', '/forgotten', '/address'] as const;

/** What is served below the issuer's path besides sign-ins, tokens and the style sheet. */
export const issuerEndpoints = [
  ...(['/authorize', '/jwks', '/revoke'] as const),
  ...pagesOfForms,
  ...(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'] as const),
];

/**
 * Accepts only the issuer's exact paths; all others at or below its path are not found. oidc-provider also
 * accepts other letter case, escapes and trailing slashes, which would bypass the limits and checks here.
 * Reads form bodies before admission, because the client decides how long that takes.
 */
export function issuerPaths({
  issuerPath,
  stylesheet,
  isTokenEndpoint,
}: {
  issuerPath: string;
  stylesheet: string;
  isTokenEndpoint: (path: string) => boolean;
}): Middleware {
  const endpoints = new Set(issuerEndpoints.map((path) => issuerPath + path));
  const ofInteractions = [`${issuerPath}/authorize/`, `${issuerPath}/interaction/`];
  const isInteraction = (path: string) =>
    ofInteractions.some((start) => path.startsWith(start) && /^[\w-]{1,64}$/.test(path.slice(start.length)));
  const isIssuerPath = (path: string) =>
    [issuerPath, '/auth'].some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  return async (ctx, next) => {
    const { path } = ctx;
    if (!isIssuerPath(path) || isTokenEndpoint(path)) return next();
    const isPage = pagesOfForms.some((page) => path === issuerPath + page) || isInteraction(path);
    if (!isPage && !endpoints.has(path) && path !== stylesheet)
      throw fail('not-found', 'Resource not found.');
    if (isPage && ctx.method === 'POST') await readBodyOf(ctx, maxFormBytes);
    await next();
  };
}

/**
 * Rejects authorization requests that oidc-provider would accept:
 * - the response mode `form_post`, whose page needs an inline script (docs/security.md, "Pages").
 * oidc-provider cannot disable it, so it is removed from its metadata here too;
 * - NUL characters, which PostgreSQL's jsonb cannot store;
 * - long ones, because each is stored as it is;
 * - too many from one address in a minute, because each is stored until it is completed or ten minutes are
 * over.
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

/** Several times as long as any client's own parameters. */
const maxQuery = 4_096;

function faultIn(query: string): string | undefined {
  if (query.length > maxQuery) return 'invalid_request: too long';
  if (new URLSearchParams(query).getAll('response_mode').includes('form_post'))
    return 'unsupported_response_mode: form_post';
  return /%00/.test(query) ? 'invalid_request: NUL' : undefined;
}
