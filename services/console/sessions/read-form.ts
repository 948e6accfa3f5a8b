import type { Context, Middleware } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { clientNetwork } from '#lib/http/client-address.ts';
import { isFromOwnPage } from '#lib/http/cookies.ts';
import { countParts, readMultipart } from '#lib/http/multipart.ts';
import { withoutCharge } from '#lib/http/pacer.ts';
import { countFields, parseForm } from '#lib/http/read-input.ts';
import { createBodyBudgets, readBody } from '#lib/http/request-body.ts';
import type { SentFiles } from './session.ts';
import { visitorOf } from './visitor.ts';

/** A form with uploads may have a scan of answers (openapi.yaml, `uploadDocument`). */
const maxBytes = {
  'application/x-www-form-urlencoded': 1024 * 1024,
  'multipart/form-data': 11 * 1024 * 1024,
};
const formTypes = Object.keys(maxBytes) as (keyof typeof maxBytes)[];

/**
 * Lets only pages of this instance change something, and receives the forms of people who are or were signed
 * in, which {@link parseSentForm} parses once the session is known.
 */
export function receiveForm(baseUrl: string): Middleware {
  const budgets = createBodyBudgets();
  return async (ctx, next) => {
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return next();
    if (ctx.method !== 'POST')
      throw fail('method-not-allowed', 'Method not allowed; allowed methods: GET, HEAD, POST.', {
        headers: { Allow: 'GET, HEAD, POST' },
      });
    if (!isFromOwnPage(ctx, baseUrl))
      throw fail('forbidden', 'This request did not come from a page of the console.');
    const type = formTypes.find((each) => ctx.is(each));
    if (!type) throw fail('unsupported-media-type', `Send ${formTypes.join(' or ')}.`);
    // A stranger is sent to the sign-in, whatever the form says.
    if (!visitorOf(ctx)) return next();
    const read = () => readBody(ctx.req, maxBytes[type], budgets.of(clientNetwork(ctx)));
    const body = await withoutCharge(ctx, read);
    if (type === 'multipart/form-data') countParts(body, ctx.get('content-type'));
    else countFields(body);
    ctx.state.sentForm = { body, type };
    await next();
  };
}

/**
 * Puts the fields and files of a sent form on the request. Only for a person who is or was signed in.
 * @throws Failure `malformed`.
 */
export async function parseSentForm(ctx: Context): Promise<void> {
  const { sentForm } = ctx.state as { sentForm?: { body: Buffer; type: string } };
  if (!sentForm) return;
  if (sentForm.type === 'multipart/form-data')
    Object.assign(ctx.state, await readParts(sentForm.body, ctx.get('content-type')));
  else ctx.state.form = parseForm(sentForm.body);
}

/** Fields and files of a form with uploads (RFC 7578). A file that was not chosen is empty. */
async function readParts(body: Buffer, type: string): Promise<{ form: URLSearchParams; files: SentFiles }> {
  const form = new URLSearchParams();
  const files = new Map<string, File>();
  const parts = await readMultipart(body, type);
  for (const [name, value] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else if (value.size > 0) files.set(name, value);
  }
  return { form, files };
}
