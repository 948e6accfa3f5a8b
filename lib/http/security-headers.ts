import type { Context } from 'koa';
import { setPageBody } from '#lib/http/send-encoded.ts';

/** `frame-ancestors` of pages that nobody may embed. */
const noAncestors = "'none'";

/** What is the same for all pages. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
].join('; ');

/**
 * The content security policy of every page: our own origin and nothing inline (security.md, "Pages").
 * @param frameAncestors who may embed the page, as CSP sources.
 * @param formTargets where a form of the page may lead beside our own origin, redirects included.
 * @param frameSources what the page may embed beside our own origin.
 */
export function contentSecurityPolicy(
  frameAncestors: string,
  formTargets: readonly string[] = [],
  frameSources: readonly string[] = [],
): string {
  const frames = ["frame-src 'self'", ...frameSources].join(' ');
  const targets = ["form-action 'self'", ...formTargets].join(' ');
  return `${pagePolicy}; ${frames}; ${targets}; frame-ancestors ${frameAncestors}`;
}

const closedPolicy = "default-src 'none'; frame-ancestors 'none'";

/** Headers of every reply that is not a page. */
export function setCommonHeaders(ctx: Context, secure: boolean): void {
  const { res } = ctx;
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Security-Policy', closedPolicy);
  if (secure) res.setHeader('Strict-Transport-Security', 'max-age=31536000');
}

/**
 * Sends a page with its policy. URLs in pages are built from BASE_URL: a page that a reader may have opened at another address of the
 * instance (127.0.0.1 for localhost) names it among `formTargets` and `frameSources`.
 * @param frameAncestors defaults to nobody.
 * @param compress for pages that no cookie opens ({@link setPageBody}).
 */
export function sendPage(
  ctx: Context,
  html: string,
  {
    status = 200,
    frameAncestors = noAncestors,
    formTargets = [] as readonly string[],
    frameSources = [] as readonly string[],
    compress = false,
  } = {},
): void {
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  ctx.set('Content-Security-Policy', contentSecurityPolicy(frameAncestors, formTargets, frameSources));
  if (frameAncestors !== noAncestors) ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
  const body = Buffer.from(html);
  if (compress) setPageBody(ctx, body);
  else ctx.body = body;
}
