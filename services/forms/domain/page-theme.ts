import type { ColorScheme, PageTheme } from '#lib/contracts/page-base.ts';
import type { ContentVersion } from './content-version.ts';

/** A theme as pages name it; its style sheet and logo are served from our own origin. */
export function pageTheme({ key, serial, data, languageFor }: ContentVersion, language: string): PageTheme {
  const { logoPath, logoAltText, logoPosition, colorScheme } = (data[languageFor(language)] ?? {}) as {
    logoPath?: string;
    logoAltText?: string;
    logoPosition?: 'LEFT' | 'CENTER' | 'RIGHT';
    colorScheme?: ColorScheme;
  };
  const logo = logoPath ? { url: logoPath, alt: logoAltText ?? '', position: logoPosition ?? 'LEFT' } : null;
  return { key, serial, logo, ...(colorScheme && { colorScheme }) };
}
