/**
 * Reads the path to return to after a sign-in.
 * @returns `/console` for everything that is not a page of the console.
 */
export function readPath(given: unknown, baseUrl: string): string {
  const home = '/console';
  if (typeof given !== 'string' || !given.startsWith('/') || given.includes('\\')) return home;
  const url = URL.canParse(given, baseUrl) ? new URL(given, baseUrl) : undefined;
  if (url?.origin !== new URL(baseUrl).origin) return home;
  const isPage = url.pathname === home || url.pathname.startsWith(`${home}/`);
  const isSignIn = /^\/console\/(sign-in|sign-out|signed-out|callback)$/.test(url.pathname);
  return isPage && !isSignIn ? `${url.pathname}${url.search}` : home;
}
