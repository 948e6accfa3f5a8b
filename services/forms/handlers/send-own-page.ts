import type { Context } from 'koa';
import type { PageModel } from '#lib/contracts/pages.ts';
import { sendPage } from '#lib/http/security-headers.ts';
import { acceptedLanguages, lookupLanguage } from '#lib/i18n/match-language.ts';
import type { Dependencies } from './dependencies.ts';

type OwnPage = Extract<PageModel, { page: 'welcome' | 'host' | 'problem' | 'api' }>;
type WithoutBase<Page> = Page extends unknown
  ? Omit<Page, 'language' | 'instance' | 'theme' | 'embedding'>
  : never;

/** The language a reader gets: the best accepted one that pages have words for, else the instance's. */
export function readerLanguage(
  ctx: Context,
  { renderer, defaultLanguage }: Pick<Dependencies, 'renderer' | 'defaultLanguage'>,
): string {
  return lookupLanguage(acceptedLanguages(ctx.get('accept-language')), renderer.languages) ?? defaultLanguage;
}

/** Sends a page of the instance's own, which belongs to no transaction. */
export function sendOwnPage(ctx: Context, dependencies: Dependencies, page: WithoutBase<OwnPage>): void {
  ctx.vary('Accept-Language');
  const html = renderOwnPage(dependencies, page, readerLanguage(ctx, dependencies));
  sendPage(ctx, html, { frameSources: [dependencies.instance.baseUrl], compress: true });
}

/** A page of the instance's own in one language. */
export function renderOwnPage(
  { renderer, instance }: Pick<Dependencies, 'renderer' | 'instance'>,
  page: WithoutBase<OwnPage>,
  language: string,
): string {
  return renderer.render({ language, instance, theme: null, embedding: null, ...page } as PageModel);
}
