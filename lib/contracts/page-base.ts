/** The instance that speaks. */
export interface PageInstance {
  name: string;
  /** BASE_URL, without a slash at its end. */
  baseUrl: string;
  /** INSTANCE_TIME_ZONE: every time on a page is shown in it. */
  timeZone: string;
}

/** A theme version in use: its style sheet is `/assets/themes/<key>/<serial>.css`. */
export interface PageTheme {
  key: string;
  serial: string;
  /** The logo of the theme, at our own origin (`/assets/logos/<id>`). */
  logo: { url: string; alt: string; position: 'LEFT' | 'CENTER' | 'RIGHT' } | null;
  /** Default: `auto`. */
  colorScheme?: ColorScheme;
}

/** The colours of a page: those of the reader's device, or always the same. */
export type ColorScheme = 'auto' | 'light' | 'dark';

export type TransactionState = 'CREATED' | 'SUBMITTED' | 'COMMITTED' | 'CANCELLED' | 'TIMEOUT' | 'ROLLBACK';

/** The query parameter `colorScheme`: `light` or `dark` wins over the theme, `auto-…` says what the page around the form looks like. */
export type AskedColorScheme = 'light' | 'dark' | 'auto-light' | 'auto-dark';

/** What the page tells the page that embeds it (security.md, "Pages"): never an answer. */
export interface PageEmbedding {
  /** The transaction's id. */
  transaction: string;
  state: TransactionState;
  /** Messages go to this origin alone; null: to the embedding page whatever its origin. */
  iframeOrigin: string | null;
  /** http(s) URL, shown as a link in a final state and followed after the delay. */
  callback: string | null;
  /** Milliseconds. */
  callbackTriggerDelay: number;
  includeIFrameResizer: boolean;
}

/** What every page needs. */
export interface PageBase {
  /** Who asks: the data controller of the information, named before the instance. Forms and receipts carry the information itself. */
  asker?: { name: string; lang: string } | null;
  /** BCP 47, what the reader should get; a language without a catalogue falls back to English. */
  language: string;
  instance: PageInstance;
  theme: PageTheme | null;
  /** What the page's address asks for; absent: the theme and the reader's device decide. */
  colorScheme?: AskedColorScheme;
  /** null where there is no transaction, or it may not be told (errors 401 and 404): nothing is sent to a host page. */
  embedding: PageEmbedding | null;
}
