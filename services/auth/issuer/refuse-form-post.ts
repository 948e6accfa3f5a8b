import type { Middleware } from 'koa';
import { sendPage } from '#lib/http/security-headers.ts';
import type { Pages } from '../pages/create-pages.ts';

/**
 * Answers to clients go in the address alone: the page of the response mode `form_post` submits itself with an inline script, which no
 * page of ours may have (security.md, "Pages"). oidc-provider cannot leave it out by itself, not even of its metadata.
 */
export function refuseFormPost({ issuerPath, pages }: { issuerPath: string; pages: Pages }): Middleware {
  return async (ctx, next) => {
    if (ctx.path === `${issuerPath}/authorize` && [ctx.query.response_mode].flat().includes('form_post')) {
      const view = { text: 'error.request', code: 'unsupported_response_mode: form_post' };
      return sendPage(ctx, pages.render(ctx, 'error', view), { status: 400 });
    }
    await next();
    const metadata = ctx.body as { response_modes_supported?: string[] } | undefined;
    if (metadata?.response_modes_supported) metadata.response_modes_supported = ['query'];
  };
}
