import type { Middleware } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { decodeUtf8, readBody } from '#lib/http/request-body.ts';
import type { SentFiles } from './session.ts';

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
    const type = ctx.is('application/x-www-form-urlencoded', 'multipart/form-data');
    if (!type)
      throw fail('unsupported-media-type', 'Send application/x-www-form-urlencoded or multipart/form-data.');
    const body = await readBody(ctx.req, maxBytes);
    if (type === 'multipart/form-data')
      Object.assign(ctx.state, await readParts(body, ctx.get('content-type')));
    else ctx.state.form = new URLSearchParams(decodeUtf8(body));
    await next();
  };
}

/** Fields and files of a form with uploads (RFC 7578). A file that was not chosen is empty. */
async function readParts(body: Buffer, type: string): Promise<{ form: URLSearchParams; files: SentFiles }> {
  const form = new URLSearchParams();
  const files = new Map<string, File>();
  const parts = await new Response(body, { headers: { 'Content-Type': type } }).formData().catch((cause) => {
    throw fail('malformed', 'The form is not valid multipart/form-data.', { cause });
  });
  for (const [name, value] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else if (value.size > 0) files.set(name, value);
  }
  return { form, files };
}
