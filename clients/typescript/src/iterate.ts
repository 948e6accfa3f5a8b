import type { Answer } from './types.ts';

/** The items of a list, page after page; a page that is neither an array nor has `values` is an item. */
export async function* iterate(
  read: (cursor: string | undefined) => Promise<Answer<unknown>>,
): AsyncIterableIterator<never> {
  let cursor: string | undefined;
  do {
    const { data, headers } = await read(cursor);
    const { values, next } = (data ?? {}) as { values?: unknown[]; next?: string | null };
    yield* (Array.isArray(data) ? data : (values ?? [data])) as never[];
    cursor = next ?? nextOf(headers.get('link'));
  } while (cursor);
}

/** The cursor of the link to the next page (RFC 8288). */
function nextOf(links: string | null): string | undefined {
  const target = links?.match(/<([^>]*)>\s*;[^,<]*\brel="?next"?/)?.[1];
  return target ? (new URL(target, 'http://localhost').searchParams.get('cursor') ?? undefined) : undefined;
}
