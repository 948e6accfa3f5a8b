import type { Context } from 'koa';

/**
 * Answers a conditional GET or HEAD with 304 if the client has the representation whose ETag is set (RFC 9110
 * §13.1.2). Compares weakly, because proxies that compress make tags weak. Not Koa's `fresh`: programs that
 * call `fetch` send `Cache-Control: no-cache` with If-None-Match.
 * @returns whether it did.
 */
export function sendNotModified(ctx: Context): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  // Koa 3 returns undefined for a header that is not set, whatever its type says.
  const tag = (ctx.response.get('etag') as string | undefined) ?? '';
  if (!isRead || !matchesWeakly(ctx.get('if-none-match'), tag)) return false;
  ctx.status = 304;
  return true;
}

/** Whether a list of entity tags, or `*`, names a tag. The tags of a list may contain commas. */
export function matchesWeakly(list: string, tag: string): boolean {
  if (tag === '') return false;
  if (list.trim() === '*') return true;
  const opaque = tag.replace(/^W\//, '');
  return Array.from(list.matchAll(/"[^"]*"/g), ([each]) => each).includes(opaque);
}
