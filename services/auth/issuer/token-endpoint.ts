import type { Context, Middleware } from 'koa';
import { Failure, fail } from '#lib/errors/fail.ts';
import type { GuessGuard } from '../operations/create-guess-guard.ts';

/** Errors that mean that somebody may be guessing: of passwords, codes or client secrets. */
const guesses = new Set(['invalid_grant', 'invalid_client']);

/**
 * The token endpoint's other addresses (decisions.md §12) lead to the one that oidc-provider serves, and failed credentials of an
 * address are counted. Whatever is wrong, the answer has OAuth's form (RFC 6749 §5.2).
 * @param issuerPath path of AUTH_URL.
 */
export function tokenEndpoint({ issuerPath, guess }: { issuerPath: string; guess: GuessGuard }): Middleware {
  const addresses = tokenAddresses(issuerPath);
  return async (ctx, next) => {
    if (!addresses(ctx.path)) return next();
    if (ctx.method !== 'POST')
      throw fail('method-not-allowed', 'This address takes POST.', { headers: { Allow: 'POST, OPTIONS' } });
    ctx.state.operationId = 'requestToken';
    try {
      ctx.path = `${issuerPath}/token`;
      await guess(ctx, next, () => guesses.has(errorOf(ctx) ?? ''));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      sendUnavailable(ctx, error);
    }
  };
}

/** Tells the token endpoint's addresses: AUTH_URL itself, its `/token`, and those that existing clients build. */
function tokenAddresses(issuerPath: string): (path: string) => boolean {
  const exact = new Set([issuerPath, `${issuerPath}/`, `${issuerPath}/token`]);
  const bases = [issuerPath, '/auth'];
  const end = '/protocol/openid-connect/token';
  return (path) =>
    exact.has(path) ||
    bases.some((base) => {
      const start = `${base}/realms/`;
      if (!path.startsWith(start) || !path.endsWith(end)) return false;
      const realm = path.slice(start.length, -end.length);
      return realm !== '' && !realm.includes('/');
    });
}

/** A fault that is nobody's grant: too many tries, or something behind us that is away. */
function sendUnavailable(ctx: Context, failure: Failure): void {
  if (failure.code !== 'too-many-requests' && failure.code !== 'unavailable') throw failure;
  ctx.status = failure.code === 'unavailable' ? 503 : 429;
  ctx.set({ 'Cache-Control': 'no-store', 'Retry-After': '1', ...failure.headers });
  ctx.body = { error: 'temporarily_unavailable', error_description: failure.message };
}

function errorOf(ctx: Context): string | undefined {
  return (ctx.body as { error?: string } | undefined)?.error;
}
