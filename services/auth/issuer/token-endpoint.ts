import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import type { KoaContextWithOIDC, OIDCContext } from 'oidc-provider';
import { Failure, fail, type ProblemCode } from '#lib/errors/fail.ts';
import { chargeTo } from '#lib/http/pacer.ts';
import { problemStatus } from '#lib/http/problem.ts';
import { readBodyOf } from '#lib/http/read-input.ts';
import type { GuessGuard } from '../operations/guess-guard.ts';

/** Errors that count as failed credentials: passwords, codes, client secrets. */
const guesses = new Set(['invalid_grant', 'invalid_client']);

/** Faults of the body before it is parsed. */
const bodyFaults = new Set<ProblemCode>(['malformed', 'too-large', 'unsupported-media-type']);

/** oidc-provider's own limit. */
const maxBytes = 56 * 1024;

/**
 * The endpoints that clients call: those for tokens, and the one that revokes them (RFC 7009). Routes every
 * path of the token endpoint (openapi.yaml) to the one that oidc-provider serves. Reads the body before
 * admission, because the client decides how long that takes, and limits failed credentials. Errors have
 * OAuth's format (RFC 6749 §5.2).
 * @param isTokenEndpoint whether a path is one of the token endpoint. @param issuerPath path of AUTH_URL.
 */
export function clientEndpoints({
  issuerPath,
  isTokenEndpoint,
  guess,
}: {
  issuerPath: string;
  isTokenEndpoint: (path: string) => boolean;
  guess: GuessGuard;
}): Middleware {
  return async (ctx, next) => {
    const revokes = ctx.path === `${issuerPath}/revoke`;
    if (!revokes && !isTokenEndpoint(ctx.path)) return next();
    if (ctx.method !== 'POST')
      throw fail('method-not-allowed', 'Method not allowed; allowed methods: POST.', {
        headers: { Allow: 'POST, OPTIONS' },
      });
    ctx.state.operationId = revokes ? 'revokeToken' : 'requestToken';
    const { req } = ctx;
    try {
      ctx.req = replay(req, await readBodyOf(ctx, maxBytes));
      if (!revokes) ctx.path = `${issuerPath}/token`;
      await guess(ctx, next, () => isGuess(ctx));
      if (!revokes && ctx.status === 200) chargeTo(ctx, { roles: ['user'], account: 'signed in' });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      sendError(ctx, error);
    } finally {
      ctx.req = req;
    }
  };
}

/** A request whose body was read. oidc-provider reads it from `iterator` if the request is `readable`. */
function replay(request: IncomingMessage, body: Buffer): IncomingMessage {
  return Object.create(request, {
    readable: { value: true },
    iterator: { value: () => [body] },
  }) as IncomingMessage;
}

/** The token endpoint's paths: AUTH_URL itself, `/token` below it, and those that existing clients use. */
export function tokenPaths(issuerPath: string): (path: string) => boolean {
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

/**
 * Sends failures that are not about credentials: a bad body, too many attempts, an unavailable dependency.
 */
function sendError(ctx: Context, failure: Failure): void {
  const isOfBody = bodyFaults.has(failure.code);
  if (!isOfBody && failure.code !== 'too-many-requests' && failure.code !== 'unavailable') throw failure;
  ctx.set({ 'Cache-Control': 'no-store', ...(isOfBody ? {} : { 'Retry-After': '1' }), ...failure.headers });
  ctx.status = isOfBody ? 400 : problemStatus[failure.code].status;
  const error = isOfBody ? 'invalid_request' : 'temporarily_unavailable';
  ctx.body = { error, error_description: failure.message };
}

/**
 * Whether a request failed with credentials that can be guessed. Refresh tokens cannot, and all people's
 * sessions of the console come from one address.
 */
function isGuess(ctx: Context): boolean {
  const { error } = (ctx.body ?? {}) as { error?: string };
  const { params } = ((ctx as Partial<KoaContextWithOIDC>).oidc ?? {}) as Partial<OIDCContext>;
  if (error === 'invalid_grant' && params?.grant_type === 'refresh_token') return false;
  return error !== undefined && guesses.has(error);
}
