import type { Middleware } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { decodeUtf8, readBody } from '#lib/http/request-body.ts';

const maxBytes = 1024 * 1024;

/**
 * Lets only pages of this instance change something, and reads the fields of their forms. Browsers say where
 * a request comes from in Sec-Fetch-Site (Fetch Metadata); older ones in Origin.
 */
export function readForm(baseUrl: string): Middleware {
  const { origin } = new URL(baseUrl);
  return async (ctx, next) => {
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return next();
    if (ctx.method !== 'POST')
      throw fail('method-not-allowed', 'Method not allowed; allowed methods: GET, HEAD, POST.', {
        headers: { Allow: 'GET, HEAD, POST' },
      });
    const site = ctx.get('sec-fetch-site');
    const isOwn = site ? site === 'same-origin' : ctx.get('origin') === origin;
    if (!isOwn) throw fail('forbidden', 'This request did not come from a page of the console.');
    if (!ctx.is('application/x-www-form-urlencoded'))
      throw fail('unsupported-media-type', 'Send a form as application/x-www-form-urlencoded.');
    ctx.state.form = new URLSearchParams(decodeUtf8(await readBody(ctx.req, maxBytes)));
    await next();
  };
}
