import type { Context } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { decodeUtf8 } from '#lib/http/read-body.ts';
import { readBodyOf } from '#lib/http/read-input.ts';

/** Largest form post of our pages. */
export const maxFormBytes = 16 * 1024;

/** Reads the form post of one of our pages. @throws Failure `unsupported-media-type`, `too-large`, `malformed`. */
export async function readForm(ctx: Context): Promise<URLSearchParams> {
  if (!ctx.is('application/x-www-form-urlencoded'))
    throw fail('unsupported-media-type', 'Send the body as application/x-www-form-urlencoded.');
  return new URLSearchParams(decodeUtf8(await readBodyOf(ctx, maxFormBytes)));
}
