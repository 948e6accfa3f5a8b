import { ApiFailure } from '../api/api-failure.ts';
import type { ConsoleReader } from './console-reader.ts';
import { roleText } from './failure-page.ts';

/** Why a panel has no content, for the mixin `+panel`. */
export interface FailedView {
  text: string;
  /** The API's own words, which are English. */
  detail: string;
}

/** What a panel of a page shows: the result of its reads, or why there is none. */
export type Panel<T> = { value: T; failed: null } | { value: null; failed: FailedView };

/** The sentence of a failed read: 403 names the role, 429 and 503 say when to try again. */
function failedView(reader: ConsoleReader, { status, detail, retryAfter, roles }: ApiFailure): FailedView {
  if (roles.length > 0) return { text: roleText(reader, roles), detail };
  const key = [403, 404, 429, 503].includes(status) ? `failure.${status}` : 'failure.status';
  return { text: reader.t(key, { status, seconds: retryAfter ?? 10 }), detail };
}

/**
 * Reads what the panels of a page need, side by side. A failed read empties its panel alone.
 * @throws ApiFailure if every read failed: the page is then answered with 503.
 */
export async function readPanels<Reads extends Record<string, Promise<unknown>>>(
  reader: ConsoleReader,
  reads: Reads,
): Promise<{ [Name in keyof Reads]: Panel<Awaited<Reads[Name]>> }> {
  const names = Object.keys(reads);
  const settled = await Promise.allSettled(Object.values(reads));
  const failures: ApiFailure[] = [];
  const panels = settled.map((each) => {
    if (each.status === 'fulfilled') return { value: each.value, failed: null };
    if (!(each.reason instanceof ApiFailure)) throw each.reason;
    failures.push(each.reason);
    return { value: null, failed: failedView(reader, each.reason) };
  });
  const [first] = failures;
  if (first && failures.length === names.length) throw first;
  return Object.fromEntries(names.map((name, index) => [name, panels[index]])) as never;
}
