import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { routesOf } from '#lib/http/mount-contract.ts';
import { preferredMode, sendPage } from '#lib/http/send.ts';
import { showAddress, showForgotten, submitAddress, submitForgotten } from './account-pages.ts';
import type { PageParts, Pages } from './render-pages.ts';
import { showSetup, submitSetup } from './setup-pages.ts';
import { showSignIn, submitSignIn } from './sign-in-pages.ts';

/** The issuer's own pages: sign-in, first account, passwords and addresses of accounts; their style sheet. */
export function issuerRoutes(parts: PageParts): Middleware {
  const { pages, issuerPath } = parts;
  const router = new Router({ strict: true, sensitive: true });
  router.get(`${issuerPath}/interaction/:uid`, showSignIn(parts));
  router.post(`${issuerPath}/interaction/:uid`, submitSignIn(parts));
  router.get(`${issuerPath}/setup`, showSetup(parts));
  router.post(`${issuerPath}/setup`, submitSetup(parts));
  if (parts.forget) {
    router.get(`${issuerPath}/forgotten`, showForgotten(parts));
    router.post(`${issuerPath}/forgotten`, submitForgotten(parts));
  }
  router.get(`${issuerPath}/address`, showAddress(parts));
  router.post(`${issuerPath}/address`, submitAddress(parts));
  router.get(pages.stylesheet.path, (ctx: Context) => {
    ctx.type = 'text/css; charset=utf-8';
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.body = pages.stylesheet.body;
  });
  return routesOf(router);
}

/** Sends an authorization error that cannot be redirected to the client. */
export type RenderIssuerError = (ctx: KoaContextWithOIDC, out: ErrorOut) => void;

/** Renders authorization errors that cannot be redirected, for example for an unknown client. */
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
