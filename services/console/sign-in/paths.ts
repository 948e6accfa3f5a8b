/** It is part of the address of the issuer, which servers limit. */
const maxLength = 1_500;

/** Takes a form that a browser has kept during a sign-in. */
export const keepPath = '/console/unsent';

/**
 * Reads the path to return to after a sign-in.
 * @returns `/console` for everything that is not a page of the console, and for a path that is too long; a
 * long query is left out.
 */
export function readPath(given: unknown, baseUrl: string): string {
  const home = '/console';
  if (typeof given !== 'string' || !given.startsWith('/') || given.includes('\\')) return home;
  const url = URL.canParse(given, baseUrl) ? new URL(given, baseUrl) : undefined;
  if (url?.origin !== new URL(baseUrl).origin) return home;
  const isPage = url.pathname === home || url.pathname.startsWith(`${home}/`);
  const isSignIn = /^\/console\/(sign-in|sign-out|signed-out|callback)$/.test(url.pathname);
  if (!isPage || isSignIn || url.pathname.length > maxLength) return home;
  const whole = `${url.pathname}${url.search}`;
  return whole.length > maxLength ? url.pathname : whole;
}
