import type { AskedColorScheme, PageTheme } from '#lib/contracts/page-base.ts';
import type { PageModel } from '#lib/contracts/pages.ts';

const allowed: readonly unknown[] = ['light', 'dark', 'auto-light', 'auto-dark'] satisfies AskedColorScheme[];

/**
 * Reads the query parameter `colorScheme` of a page.
 * @returns undefined for any other value, `auto` included: then the theme and the reader's device decide.
 */
export function askedColorScheme(value: unknown): AskedColorScheme | undefined {
  return allowed.includes(value) ? (value as AskedColorScheme) : undefined;
}

/** Adds the requested colour scheme to a page, and to its links and form actions. */
export function withColorScheme<Page extends PageModel>(page: Page, value: unknown): Page {
  const colorScheme = askedColorScheme(value);
  if (!colorScheme) return page;
  const keep = (url: string) => keepColorScheme(url, value);
  const keepAll = (urls: object) =>
    Object.fromEntries(
      Object.entries(urls).map(([name, url]) => [name, typeof url === 'string' ? keep(url) : url]),
    );
  const model: PageModel = page;
  const result: Record<string, unknown> = { ...model, colorScheme };
  if ('actions' in model && model.actions) result.actions = keepAll(model.actions);
  if ('links' in model) result.links = keepAll(model.links);
  if ('withdrawal' in model && model.withdrawal)
    result.withdrawal = { ...model.withdrawal, url: keep(model.withdrawal.url) };
  if ('unchanged' in model && model.unchanged)
    result.unchanged = { ...model.unchanged, all: keep(model.unchanged.all) };
  if (model.page === 'receipt') {
    const formats = model.links.formats.map((format) => ({ ...format, url: keep(format.url) }));
    result.links = { ...keepAll(model.links), formats };
  }
  return result as Page;
}

/** Adds the requested colour scheme to the URL of a page. */
export function keepColorScheme(url: string, value: unknown): string {
  const colorScheme = askedColorScheme(value);
  if (!colorScheme) return url;
  const [address = '', fragment] = url.split('#', 2);
  const query = `${address.includes('?') ? '&' : '?'}colorScheme=${colorScheme}`;
  return `${address}${query}${fragment === undefined ? '' : `#${fragment}`}`;
}

/**
 * Value of the meta element `color-scheme` (HTML, "Standard metadata names"): a fixed request overrides the
 * theme.
 */
export function usedColorScheme({
  colorScheme,
  theme,
}: {
  colorScheme?: AskedColorScheme;
  theme: PageTheme | null;
}): 'light' | 'dark' | 'light dark' {
  if (colorScheme === 'light' || colorScheme === 'dark') return colorScheme;
  if (theme?.colorScheme === 'light' || theme?.colorScheme === 'dark') return theme.colorScheme;
  if (colorScheme) return colorScheme === 'auto-dark' ? 'dark' : 'light';
  return 'light dark';
}
