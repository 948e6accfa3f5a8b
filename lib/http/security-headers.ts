import type { Context, Middleware } from 'koa';

/** `frame-ancestors` of pages that cannot be embedded. */
export const noAncestors = "'none'";

/** Directives of every page. */
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
 * The Content-Security-Policy of a page: its own origin and nothing inline (docs/security.md).
 * @param frameAncestors CSP sources that may embed the page.
 * @param formTargets CSP sources that its forms may be sent or redirected to, beside its own origin.
 * @param frameSources CSP sources that it may embed, beside its own origin.
 * @param inlineStyles whether styles may be inline: in pages with a frame that shows a mail, which inherits
 * the policy.
 */
export function contentSecurityPolicy(
  frameAncestors: string,
  formTargets: readonly string[] = [],
  frameSources: readonly string[] = [],
  inlineStyles = false,
): string {
  const frames = ["frame-src 'self'", ...frameSources].join(' ');
  const targets = ["form-action 'self'", ...formTargets].join(' ');
  const policy = inlineStyles ? pagePolicy.replace("style-src 'self'", "$& 'unsafe-inline'") : pagePolicy;
  return `${policy}; ${frames}; ${targets}; frame-ancestors ${frameAncestors}`;
}

const closedPolicy = "default-src 'none'; frame-ancestors 'none'";

/** Sets the headers of every response; sendPage replaces the policy. */
export function setCommonHeaders(ctx: Context, secure: boolean): void {
  const { res } = ctx;
  res.setHeader('X-Content-Type-Options', 'nosniff');
  res.setHeader('Referrer-Policy', 'no-referrer');
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('Content-Security-Policy', closedPolicy);
  if (secure) res.setHeader('Strict-Transport-Security', 'max-age=31536000');
}

const exposedHeaders = 'Location, Link, Retry-After';

/**
 * Cross-origin rules (docs/interface.md, "Cross-origin requests"). Any origin may read open paths, without
 * credentials; the listed origins may send every request, with Authorization. `CM_KEY` is never an allowed
 * header, because API keys must not be in pages.
 * @param openReads whether a path is open.
 */
export function cors({
  origins,
  openReads,
}: {
  origins: readonly string[];
  openReads: (path: string) => boolean;
}): Middleware {
  return async (ctx, next) => {
    const origin = ctx.get('origin');
    // A cached response for one origin must not be used for another.
    ctx.res.appendHeader('Vary', 'Origin');
    if (origin === '') return next();
    const requested = ctx.method === 'OPTIONS' ? ctx.get('access-control-request-method') : '';
    const method = requested || ctx.method;
    const open = openReads(ctx.path) && (method === 'GET' || method === 'HEAD');
    const listed = origins.includes(origin);
    if (open || listed) {
      ctx.set('Access-Control-Allow-Origin', open && !listed ? '*' : origin);
      ctx.set('Access-Control-Expose-Headers', exposedHeaders);
    }
    if (!requested) return next();
    ctx.status = 204;
    if (!open && !listed) return;
    ctx.set('Access-Control-Allow-Methods', listed ? 'GET, HEAD, POST, PUT, DELETE' : 'GET, HEAD');
    ctx.set(
      'Access-Control-Allow-Headers',
      listed ? 'Authorization, Content-Type, Accept, Accept-Language, If-Match' : 'Accept, Accept-Language',
    );
    ctx.set('Access-Control-Max-Age', '600');
  };
}
