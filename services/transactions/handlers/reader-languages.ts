import type { Context } from 'koa';
import { acceptedLanguages } from '#lib/i18n/match-language.ts';

/** The languages that the reader of a form or page wants, best first: the context's own, then Accept-Language, then the instance's. */
export function readerLanguages(
  ctx: Context,
  language: string | undefined,
  instanceLanguage: string,
): string[] {
  return [
    ...(language ? [language] : []),
    ...acceptedLanguages(ctx.get('accept-language')),
    instanceLanguage,
  ];
}
