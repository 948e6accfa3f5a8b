import type { Context } from 'koa';

/** A cookie of this instance. */
export interface Cookie {
  read(ctx: Context): string | undefined;
  /** @param seconds until the browser forgets it; absent: with the browser's session. */
  write(ctx: Context, value: string, seconds?: number): void;
  remove(ctx: Context): void;
}

/**
 * A cookie whose name and flags follow BASE_URL, never the request. Browsers send cookies to every port of a
 * host (RFC 6265 §8.5), so the port is part of the name: instances on one machine do not end each other's
 * sessions. The prefix `__Host-` keeps other hosts of the same domain from setting the cookie (RFC 6265bis
 * §4.1.3).
 * @param suffix after the port.
 */
export function createCookie(baseUrl: string, base: string, suffix = ''): Cookie {
  const secure = baseUrl.startsWith('https:');
  const name = `${secure ? '__Host-' : ''}${base}${portMark(baseUrl)}${suffix}`;
  function append(ctx: Context, pair: string, seconds?: number): void {
    const age = seconds === undefined ? [] : [`Max-Age=${seconds}`];
    const flags = ['Path=/', 'HttpOnly', 'SameSite=Lax', ...(secure ? ['Secure'] : []), ...age];
    ctx.append('Set-Cookie', [pair, ...flags].join('; '));
  }
  return {
    read: (ctx) => readCookie(ctx.get('cookie'), name),
    write: (ctx, value, seconds) => append(ctx, `${name}=${value}`, seconds),
    remove: (ctx) => append(ctx, `${name}=`, 0),
  };
}

function readCookie(header: string, name: string): string | undefined {
  const found = header.split(/;\s*/).find((pair) => pair.startsWith(`${name}=`));
  return found?.slice(name.length + 1) || undefined;
}

/**
 * Whether a request that changes something comes from a page of this instance. Browsers say so in
 * Sec-Fetch-Site (Fetch Metadata); older ones in Origin.
 */
export function isFromOwnPage(ctx: Context, baseUrl: string): boolean {
  const site = ctx.get('sec-fetch-site');
  return site ? site === 'same-origin' : ctx.get('origin') === new URL(baseUrl).origin;
}

/**
 * What tells the cookies of instances on one machine apart.
 * @param url of the instance. @returns `_8081` for a URL with a port; empty without.
 */
export function portMark(url: string): string {
  const { port } = new URL(url);
  return port && `_${port}`;
}
