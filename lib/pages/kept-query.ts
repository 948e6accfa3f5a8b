import type { ParsedUrlQuery } from 'node:querystring';
import { canonicalLanguageTag } from '#lib/i18n/language-tag.ts';
import { askedColorScheme } from './color-scheme.ts';

/** Reads the query parameter `language` of a page: a BCP 47 tag, or undefined for anything else. */
export function askedLanguage(value: unknown): string | undefined {
  return typeof value === 'string' ? canonicalLanguageTag(value) : undefined;
}

/** Adds to the URL of a page how the page before it is shown: the requested colour scheme and language. */
export function keepQuery(url: string, query: ParsedUrlQuery): string {
  const colorScheme = askedColorScheme(query.colorScheme);
  const language = askedLanguage(query.language);
  if (!colorScheme && !language) return url;
  const kept = new URLSearchParams({ ...(colorScheme && { colorScheme }), ...(language && { language }) });
  const [address = '', fragment] = url.split('#', 2);
  return `${address}${address.includes('?') ? '&' : '?'}${kept}${fragment === undefined ? '' : `#${fragment}`}`;
}

/** {@link keepQuery} for all URLs of pages. @param links other texts stay as they are. */
export function withKeptQuery<Links extends object>(links: Links, query: ParsedUrlQuery): Links {
  const kept = Object.entries(links).map(([name, link]) => {
    const isUrl = typeof link === 'string' && link.startsWith('http');
    return [name, isUrl ? keepQuery(link, query) : link];
  });
  return Object.fromEntries(kept);
}
