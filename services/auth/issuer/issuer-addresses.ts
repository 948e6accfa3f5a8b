import type { Middleware } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { readBodyOf } from '#lib/http/read-input.ts';
import { maxFormBytes } from './read-form.ts';

/**
 * Lets through the addresses that the issuer has, to the letter, and answers 404 to all others at or below its path. oidc-provider reads
 * paths more generously: capitals, escapes and slashes at the end would lead to its endpoints past what is counted and checked here.
 * The body of a form is read at once, before the request is admitted, because how long that takes is up to the client.
 */
export function issuerAddresses({
  issuerPath,
  stylesheet,
  isTokenEndpoint,
}: {
  issuerPath: string;
  stylesheet: string;
  isTokenEndpoint: (path: string) => boolean;
}): Middleware {
  const endpoints = new Set(
    [
      '/authorize',
      '/jwks',
      '/setup',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
    ].map((path) => issuerPath + path),
  );
  const ofInteractions = [`${issuerPath}/authorize/`, `${issuerPath}/interaction/`];
  const isInteraction = (path: string) =>
    ofInteractions.some((start) => path.startsWith(start) && /^[\w-]{1,64}$/.test(path.slice(start.length)));
  const isOurs = (path: string) =>
    [issuerPath, '/auth'].some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  return async (ctx, next) => {
    const { path } = ctx;
    if (!isOurs(path) || isTokenEndpoint(path)) return next();
    const isPage = path === `${issuerPath}/setup` || isInteraction(path);
    if (!isPage && !endpoints.has(path) && path !== stylesheet)
      throw fail('not-found', 'There is nothing at this address.');
    if (isPage && ctx.method === 'POST') await readBodyOf(ctx, maxFormBytes);
    await next();
  };
}
