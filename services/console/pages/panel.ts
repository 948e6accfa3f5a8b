import { ApiFailure } from '../api/api-failure.ts';
import type { ConsoleReader } from './console-reader.ts';
import { failureText } from './failure-page.ts';
import { withQuery } from './filters.ts';

/** Why a panel has no content, for the mixin `+panel`. */
export interface FailedView {
  text: string;
  /** The API's own words, which are English. */
  detail: string;
}

/** A panel whose read takes long: the page is shown without it, and then loads it. */
interface LaterView {
  /** `id` of the panel. */
  id: string;
  /** The same page, which waits for the read of this panel. */
  href: string;
  /** The same page, which waits for all its reads. */
  wholeHref: string;
}

/** What a panel of a page shows: the result of its reads, why there is none, or where to load it from. */
export type Panel<T> =
  | { id: string; value: T; failed: null; later: null }
  | { id: string; value: null; failed: FailedView; later: null }
  | { id: string; value: null; failed: null; later: LaterView };

/** Reads that may take seconds. */
interface LongReads {
  names: readonly string[];
  /** Path and query of the page. */
  href: string;
  query: Readonly<Record<string, unknown>>;
}

/** How long a page waits for its long reads. */
const longMs = 100;

/**
 * The panel that a script asks for, out of its page, because each of several panels would otherwise send the
 * whole page once more.
 * @param wait parameter of the request. @returns the whole page if it does not have the panel.
 */
export function panelAlone(page: string, wait: unknown): string {
  const start = page.indexOf(`<section class="panel" id="panel-${wait}">`);
  if (start < 0) return page;
  // Panels are not nested.
  const end = '</section>';
  return page.slice(start, page.indexOf(end, start) + end.length);
}

/**
 * Reads what the panels of a page need, side by side. A failed read empties its panel alone.
 * @param long reads that the page does not wait for. With `?wait=<name>` the page waits for the read of that
 * name, and a script gets its panel alone; with `?wait=true`, or as a file, for all.
 * @throws ApiFailure if every read failed: the page is then answered with 503.
 */
export async function readPanels<Reads extends Record<string, Promise<unknown>>>(
  reader: ConsoleReader,
  reads: Reads,
  long?: LongReads,
): Promise<{ [Name in keyof Reads]: Panel<Awaited<Reads[Name]>> }> {
  const failures: ApiFailure[] = [];
  const waitsFor = (name: string) =>
    !long?.names.includes(name) ||
    long.query.wait === name ||
    long.query.wait === 'true' ||
    long.query.format !== undefined;
  const panels = Object.entries(reads).map(async ([name, read]) => {
    const id = `panel-${name}`;
    const settled = read.then(
      (value) => ({ id, value, failed: null, later: null }),
      (error) => {
        if (!(error instanceof ApiFailure)) throw error;
        failures.push(error);
        return {
          id,
          value: null,
          failed: { text: failureText(reader, error), detail: error.detail },
          later: null,
        };
      },
    );
    if (!long || waitsFor(name)) return settled;
    const waiting = (wait: string) => withQuery(long.href, { wait });
    const later = { id, href: waiting(name), wholeHref: waiting('true') };
    return firstOf(settled, { id, value: null, failed: null, later });
  });
  const shown = await Promise.all(panels);
  const [first] = failures;
  if (first && failures.length === shown.length) throw first;
  // biome-ignore lint/plugin: `fromEntries` does not know which name has which panel.
  return Object.fromEntries(Object.keys(reads).map((name, index) => [name, shown[index]])) as never;
}

/**
 * What `work` resolves to, or `otherwise` if it takes longer than a page waits. Its error is dropped then.
 */
export async function firstOf<T, Other>(work: Promise<T>, otherwise: Other): Promise<T | Other> {
  work.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Other>((done) => {
    timer = setTimeout(done, longMs, otherwise);
  });
  return Promise.race([work, timeout]).finally(() => clearTimeout(timer));
}
