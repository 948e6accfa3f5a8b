import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { preferredMode } from '#lib/http/negotiate.ts';
import { sendPage } from '#lib/http/security-headers.ts';
import type { Pages } from '../pages/create-pages.ts';

/** Answers an authorization request with an error that does not go back to the client. */
export type RenderIssuerError = (ctx: KoaContextWithOIDC, out: ErrorOut) => void;

/** The page of an authorization request that cannot go back to its client, such as one of an unknown client. */
export function renderIssuerError(pages: Pages): RenderIssuerError {
  return (ctx, out) => {
    if (preferredMode(ctx.get('accept')) !== 'html') {
      ctx.body = out;
      return;
    }
    const expired = out.error === 'invalid_request' && /session|expired/.test(out.error_description ?? '');
    const html = pages.render(ctx, 'error', {
      text: expired ? 'error.expired' : 'error.request',
      code: [out.error, expired ? undefined : out.error_description].filter(Boolean).join(': '),
    });
    sendPage(ctx, html, { status: ctx.status });
  };
}
