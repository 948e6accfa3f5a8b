import type { AskedColorScheme, PageTheme } from '#lib/contracts/page-base.ts';
import type { PageModel } from '#lib/contracts/pages.ts';

const asked: readonly unknown[] = ['light', 'dark', 'auto-light', 'auto-dark'] satisfies AskedColorScheme[];

/**
 * The query parameter `colorScheme` of a page. Everything else, `auto` included, leaves the choice to the theme and the reader's
 * device: a parameter about colours never makes an address invalid.
 */
export function askedColorScheme(value: unknown): AskedColorScheme | undefined {
  return asked.includes(value) ? (value as AskedColorScheme) : undefined;
}

/** The page in the colours that its address asks for, with links and form actions that ask for the same. */
export function withColorScheme<Page extends PageModel>(page: Page, value: unknown): Page {
  const colorScheme = askedColorScheme(value);
  if (!colorScheme) return page;
  const coloured: Record<string, unknown> = { ...page, colorScheme };
  for (const member of ['actions', 'links']) {
    const urls = coloured[member] as Record<string, unknown> | null | undefined;
    if (urls)
      coloured[member] = Object.fromEntries(
        Object.entries(urls).map(([name, url]) => [
          name,
          typeof url === 'string' ? keepColorScheme(url, value) : url,
        ]),
      );
  }
  return coloured as Page;
}

/** A URL of a page that asks for the same colours. */
export function keepColorScheme(url: string, value: unknown): string {
  const colorScheme = askedColorScheme(value);
  if (!colorScheme) return url;
  const [address = '', fragment] = url.split('#', 2);
  const query = `${address.includes('?') ? '&' : '?'}colorScheme=${colorScheme}`;
  return `${address}${query}${fragment === undefined ? '' : `#${fragment}`}`;
}

/** Value of the meta element `color-scheme` (HTML, "Standard metadata names"). A fixed request wins over the theme, the theme over the rest. */
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
