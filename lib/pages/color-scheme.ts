import type { AskedColorScheme, PageTheme } from '#lib/contracts/page-base.ts';

const allowed: readonly unknown[] = ['light', 'dark', 'auto-light', 'auto-dark'] satisfies AskedColorScheme[];

/**
 * Reads the query parameter `colorScheme` of a page.
 * @returns undefined for any other value, `auto` included: then the theme and the reader's device decide.
 */
export function askedColorScheme(value: unknown): AskedColorScheme | undefined {
  return allowed.includes(value) ? (value as AskedColorScheme) : undefined;
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
