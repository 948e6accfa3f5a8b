/** The instance that shows a page. Its settings change while the process runs: read them when needed. */
export interface PageInstance {
  readonly name: string;
  /** BASE_URL, without a trailing slash. */
  readonly baseUrl: string;
  /** Of every time on a page. */
  readonly timeZone: string;
  /** Path of the image that pages show whose theme has none. */
  readonly logo?: string | null;
}

/** A version of a theme; its style sheet is `/assets/themes/<key>/<serial>.css`. */
export interface PageTheme {
  key: string;
  serial: string;
  /** The logo, at `/assets/logos/<id>` of this instance. */
  logo: { url: string; alt: string; position: 'LEFT' | 'CENTER' | 'RIGHT' } | null;
  /** Default: `auto`. */
  colorScheme?: ColorScheme;
}

/** Colour scheme of a page: that of the reader's device, or a fixed one. */
export type ColorScheme = 'auto' | 'light' | 'dark';

/**
 * The query parameter `colorScheme`: `light` and `dark` override the theme; `auto-…` is the scheme of the
 * embedding page.
 */
export type AskedColorScheme = 'light' | 'dark' | 'auto-light' | 'auto-dark';

/** Members of every page that is drawn. */
export interface PageBase {
  /** BCP 47 language of the page; falls back to English without a catalogue. */
  language: string;
  instance: PageInstance;
  theme: PageTheme | null;
  /** The scheme requested by the URL; absent if the theme and the reader's device decide. */
  colorScheme?: AskedColorScheme;
  /** Languages in which the page can be read, and its URL; absent if it offers none. */
  offered?: { languages: string[]; url: string };
}
