import type { Context } from 'koa';

/** The cookies of the console. Their names and flags follow BASE_URL, never the request. */
export interface ConsoleCookies {
  session: Cookie;
  /** Names the calls of the form that was just carried out. */
  calls: Cookie;
  /** The cookie of a sign-in that is under way. @param state of the request to the issuer. */
  attempt(state: string): Cookie;
}

interface Cookie {
  read(ctx: Context): string | undefined;
  /** @param seconds until the browser forgets it; absent: with the browser's session. */
  write(ctx: Context, value: string, seconds?: number): void;
  remove(ctx: Context): void;
}

/** The prefix `__Host-` keeps other hosts of the same domain from setting the cookie (RFC 6265bis §4.1.3). */
export function createCookies(baseUrl: string): ConsoleCookies {
  const secure = baseUrl.startsWith('https:');
  const prefix = secure ? '__Host-' : '';
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
    session: cookie(`${prefix}accord_console`),
    calls: cookie(`${prefix}accord_console_calls`),
    attempt: (state) => cookie(`${prefix}accord_console_${state.replaceAll(/\W/g, '').slice(0, 16)}`),
  };
}

function readCookie(header: string, name: string): string | undefined {
  const found = header.split(/;\s*/).find((pair) => pair.startsWith(`${name}=`));
  return found?.slice(name.length + 1) || undefined;
}
