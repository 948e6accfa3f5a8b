import type { Context } from 'koa';
import { fail, type ProblemCode } from '#lib/errors/fail.ts';
import type { RenderErrorPage } from '#lib/http/handle-errors.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { problemStatus } from '#lib/http/problem.ts';
import { sendPage } from '#lib/http/send.ts';
import { acceptedLanguages, lookupLanguage } from '#lib/i18n/match-language.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import type { PageModel } from '../pages/page-model.ts';
import type { Dependencies } from './dependencies.ts';

/** Handlers of the instance's own pages, which belong to no transaction. */
export function pageHandlers(dependencies: Dependencies) {
  const { demo, document, instance, consolePath } = dependencies;
  return {
    async getWelcome(ctx) {
      const formUrl = demo && (await demo.formUrl());
      sendOwnPage(ctx, dependencies, {
        page: 'welcome',
        version: document.info.version,
        consolePath,
        demo: formUrl
          ? {
              formUrl,
              hostUrl: `${instance.baseUrl}/demo`,
              tokenUrl: demo.tokenUrl,
              accounts: demo.accounts,
            }
          : null,
      });
    },

    /** A sample site that embeds a form. */
    async getDemoHost(ctx) {
      const formUrl = demo && (await demo.formUrl());
      if (!formUrl) throw fail('not-found', 'Resource not found.');
      sendOwnPage(ctx, dependencies, { page: 'host', formUrl });
    },

    getProblemPage(ctx, { params: { code } }) {
      if (!isProblemCode(code)) throw fail('not-found', 'Problem type not found.');
      sendOwnPage(ctx, dependencies, { page: 'problem', code, status: problemStatus[code].status });
    },
  } satisfies OperationHandlers;
}

/** Renders the page of a failed request to this service, in the reader's language. */
export function renderErrorPage(dependencies: Dependencies): RenderErrorPage {
  const { renderer, instance } = dependencies;
  return async (ctx, { code, headers }) => ({
    html: renderer.render({
      page: 'error',
      code,
      ...(headers['Retry-After'] && { retryAfter: Number(headers['Retry-After']) }),
      language: readerLanguage(ctx, dependencies),
      instance,
      theme: null,
      colorScheme: askedColorScheme(ctx.query.colorScheme),
    }),
  });
}

type OwnPage = Extract<PageModel, { page: 'welcome' | 'host' | 'problem' }>;
type WithoutBase<Page> = Page extends unknown ? Omit<Page, 'language' | 'instance' | 'theme'> : never;

function sendOwnPage(ctx: Context, dependencies: Dependencies, page: WithoutBase<OwnPage>): void {
  const { renderer, instance } = dependencies;
  const language = readerLanguage(ctx, dependencies);
  const html = renderer.render({ language, instance, theme: null, ...page });
  ctx.vary('Accept-Language');
  sendPage(ctx, html, { frameSources: [instance.baseUrl], compress: true });
}

/** The best accepted language that pages are translated to, else the instance's. */
function readerLanguage(ctx: Context, { renderer, instance }: Dependencies): string {
  return (
    lookupLanguage(acceptedLanguages(ctx.get('accept-language')), renderer.languages) ?? instance.language
  );
}

function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(problemStatus, code);
}
