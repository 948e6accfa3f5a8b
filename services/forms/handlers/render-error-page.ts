import type { RenderErrorPage } from '#lib/http/handle-errors.ts';
import { problemStatus } from '#lib/http/problem-status.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import type { Dependencies } from './dependencies.ts';
import { readerLanguage } from './send-own-page.ts';

/** The page of a failure in this service, in the reader's language. */
export function renderErrorPage(dependencies: Dependencies): RenderErrorPage {
  const { renderer, instance } = dependencies;
  return async (ctx, { code, headers }) => ({
    html: renderer.render({
      page: 'error',
      status: problemStatus[code].status,
      code,
      ...(headers['Retry-After'] && { retryAfter: Number(headers['Retry-After']) }),
      language: readerLanguage(ctx, dependencies),
      instance,
      theme: null,
      embedding: null,
      colorScheme: askedColorScheme(ctx.query.colorScheme),
      links: { child: null, transaction: null },
      contact: null,
    }),
  });
}
