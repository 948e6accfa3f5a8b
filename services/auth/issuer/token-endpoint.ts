import type { IncomingMessage } from 'node:http';
import type { Context, Middleware } from 'koa';
import { Failure, fail, type ProblemCode } from '#lib/errors/fail.ts';
import { problemStatus } from '#lib/http/problem-status.ts';
import { readBodyOf } from '#lib/http/read-input.ts';
import type { GuessGuard } from '../operations/create-guess-guard.ts';

/** Errors that mean that somebody may be guessing: of passwords, codes or client secrets. */
const guesses = new Set(['invalid_grant', 'invalid_client']);

/** What can be wrong with a body before it is read as a form. */
const bodyFaults = new Set<ProblemCode>(['malformed', 'too-large', 'unsupported-media-type']);

/** Largest body: what oidc-provider itself takes. */
const maxBytes = 56 * 1024;

/**
 * The token endpoint's other addresses (openapi.yaml) lead to the one that oidc-provider serves. The body is read before the request is
 * admitted, because how long that takes is up to the client; failed credentials of an address are counted. Whatever is wrong, the answer has
 * OAuth's form (RFC 6749 §5.2).
 * @param isTokenEndpoint whether a path is one of its addresses. @param issuerPath path of AUTH_URL.
 */
export function tokenEndpoint({
  issuerPath,
  isTokenEndpoint,
  guess,
}: {
  issuerPath: string;
  isTokenEndpoint: (path: string) => boolean;
  guess: GuessGuard;
}): Middleware {
  return async (ctx, next) => {
    if (!isTokenEndpoint(ctx.path)) return next();
    if (ctx.method !== 'POST')
      throw fail('method-not-allowed', 'This address takes POST.', { headers: { Allow: 'POST, OPTIONS' } });
    ctx.state.operationId = 'requestToken';
    const { req } = ctx;
    try {
      ctx.req = replay(req, await readBodyOf(ctx, maxBytes));
      ctx.path = `${issuerPath}/token`;
      await guess(ctx, next, () => guesses.has(errorOf(ctx) ?? ''));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      sendError(ctx, error);
    } finally {
      ctx.req = req;
    }
  };
}

/** The request as oidc-provider reads it, which takes a body from `iterator` of a request that is `readable`. */
function replay(request: IncomingMessage, body: Buffer): IncomingMessage {
  return Object.create(request, {
    readable: { value: true },
    iterator: { value: () => [body] },
  }) as IncomingMessage;
}

/** Tells the token endpoint's addresses: AUTH_URL itself, its `/token`, and those that existing clients build. */
export function tokenAddresses(issuerPath: string): (path: string) => boolean {
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

/** A fault that is none of the credentials: of the body, too many tries, or something behind us that is away. */
function sendError(ctx: Context, failure: Failure): void {
  const isOfBody = bodyFaults.has(failure.code);
  if (!isOfBody && failure.code !== 'too-many-requests' && failure.code !== 'unavailable') throw failure;
  ctx.set({ 'Cache-Control': 'no-store', ...(isOfBody ? {} : { 'Retry-After': '1' }), ...failure.headers });
  ctx.status = isOfBody ? 400 : problemStatus[failure.code].status;
  const error = isOfBody ? 'invalid_request' : 'temporarily_unavailable';
  ctx.body = { error, error_description: failure.message };
}

function errorOf(ctx: Context): string | undefined {
  return (ctx.body as { error?: string } | undefined)?.error;
}
