import type { Context } from 'koa';
import { portMark } from '#lib/config/specs.ts';

/** The cookies of the console. Their names and flags follow BASE_URL, never the request. */
export interface ConsoleCookies {
  session: Cookie;
  /** Names the calls of the form that was just carried out. */
  calls: Cookie;
  /** Names the browser in all its sign-ins that are under way: a cookie for each would add up. */
  attempts: Cookie;
}

interface Cookie {
  read(ctx: Context): string | undefined;
  /** @param seconds until the browser forgets it; absent: with the browser's session. */
  write(ctx: Context, value: string, seconds?: number): void;
  remove(ctx: Context): void;
}

/**
 * Browsers send cookies to every port of a host (RFC 6265 §8.5), so the port is part of the names: instances
 * on one machine do not end each other's sessions. The prefix `__Host-` keeps other hosts of the same domain
 * from setting the cookie (RFC 6265bis §4.1.3).
 */
export function createCookies(baseUrl: string): ConsoleCookies {
  const secure = baseUrl.startsWith('https:');
  const prefix = `${secure ? '__Host-' : ''}accord_console${portMark(baseUrl)}`;
  const cookie = (name: string): Cookie => ({
    read: (ctx) => readCookie(ctx.get('cookie'), name),
    write: (ctx, value, seconds) => append(ctx, `${name}=${value}`, seconds),
    remove: (ctx) => append(ctx, `${name}=`, 0),
  });
  function append(ctx: Context, pair: string, seconds?: number): void {
    const age = seconds === undefined ? [] : [`Max-Age=${seconds}`];
    const flags = ['Path=/', 'HttpOnly', 'SameSite=Lax', ...(secure ? ['Secure'] : []), ...age];
    ctx.append('Set-Cookie', [pair, ...flags].join('; '));
  }
  return {
    session: cookie(prefix),
    calls: cookie(`${prefix}_calls`),
    attempts: cookie(`${prefix}_attempts`),
  };
}

function readCookie(header: string, name: string): string | undefined {
  const found = header.split(/;\s*/).find((pair) => pair.startsWith(`${name}=`));
  return found?.slice(name.length + 1) || undefined;
}
