import { type Cookie, createCookie } from '#lib/http/cookies.ts';

/** The cookies of the console. */
export interface ConsoleCookies {
  session: Cookie;
  /** Names the calls of the form that was just carried out. */
  calls: Cookie;
  /** Names the browser in all its sign-ins that are under way: a cookie for each would add up. */
  attempts: Cookie;
}

/** @param baseUrl of the instance: names and flags follow it. */
export function createCookies(baseUrl: string): ConsoleCookies {
  const cookie = (suffix?: string) => createCookie(baseUrl, 'accord_console', suffix);
  return { session: cookie(), calls: cookie('_calls'), attempts: cookie('_attempts') };
}
