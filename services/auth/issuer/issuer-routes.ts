import Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { PageParts } from './page-parts.ts';
import { showSetup, submitSetup } from './setup-pages.ts';
import { showSignIn, submitSignIn } from './sign-in-pages.ts';

/** The issuer's own pages: sign-in, setting up the first account, and their style sheet. */
export function issuerRoutes(parts: PageParts): Middleware {
  const { pages, issuerPath } = parts;
  const router = new Router({ strict: true, sensitive: true });
  router.get(`${issuerPath}/interaction/:uid`, showSignIn(parts));
  router.post(`${issuerPath}/interaction/:uid`, submitSignIn(parts));
  router.get(`${issuerPath}/setup`, showSetup(parts));
  router.post(`${issuerPath}/setup`, submitSetup(parts));
  router.get(pages.stylesheet.path, (ctx: Context) => {
    ctx.type = 'text/css; charset=utf-8';
    ctx.set('Cache-Control', 'public, max-age=31536000, immutable');
    ctx.body = pages.stylesheet.body;
  });
  return router.routes() as unknown as Middleware;
}
