import type Koa from 'koa';
import type { Middleware } from 'koa';
import mount from 'koa-mount';
import { Failure } from '#lib/errors/fail.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { GuessGuard } from '../operations/create-guess-guard.ts';
import type { Setup } from '../operations/create-setup.ts';
import type { Pages } from '../pages/create-pages.ts';
import { createProvider, type IssuerParts } from './create-provider.ts';
import { guardAuthorization } from './guard-authorization.ts';
import { issuerAddresses } from './issuer-addresses.ts';
import { issuerRoutes } from './issuer-routes.ts';
import { renderIssuerError } from './render-error.ts';
import { tokenAddresses, tokenEndpoint } from './token-endpoint.ts';

interface MountParts extends Omit<IssuerParts, 'renderError'> {
  pages: Pages;
  setup: Setup;
  guess: GuessGuard;
  limiter: Pick<RateLimiter, 'countAuthorization'>;
  log: Logger;
}

export interface MountedIssuer {
  /** What is done before a request is admitted: its address, its body, and whether its client has guessed too often. */
  intake: Middleware[];
  middleware: Middleware[];
  /** Gives the application that the middleware runs in what oidc-provider looks for there. */
  prepare(app: Koa): void;
}

/** The built-in issuer as middleware: its token endpoint at all its addresses, its own pages, and oidc-provider below AUTH_URL. */
export function mountIssuer(parts: MountParts): MountedIssuer {
  const { settings, log, guess, limiter, pages } = parts;
  const issuerPath = new URL(settings.authUrl).pathname;
  const isTokenEndpoint = tokenAddresses(issuerPath);
  const provider = createProvider({ ...parts, renderError: renderIssuerError(parts.pages) });
  provider.on('server_error', (ctx, error) => {
    log.error('the issuer failed', { requestId: ctx.state.requestId, error });
    if (!(error instanceof Failure) || error.code !== 'unavailable') return;
    ctx.status = 503;
    ctx.set('Retry-After', '1');
    if (ctx.type === 'application/json') ctx.body = { error: 'temporarily_unavailable' };
  });
  return {
    intake: [
      issuerAddresses({ issuerPath, isTokenEndpoint, stylesheet: pages.stylesheet.path }),
      tokenEndpoint({ issuerPath, isTokenEndpoint, guess }),
    ],
    middleware: [
      issuerRoutes({ ...parts, provider, issuerPath }),
      guardAuthorization({ issuerPath, pages, limiter }),
      leaveCorsToUs,
      mount(issuerPath, provider as unknown as Koa),
    ],
    prepare(app) {
      app.keys = provider.keys as string[];
      pinAddress(app, new URL(settings.authUrl));
    },
  };
}

/** oidc-provider has cross-origin rules of its own, which it leaves off when it sees that somebody has set some. */
const leaveCorsToUs: Middleware = (ctx, next) => {
  if (!ctx.response.get('Access-Control-Expose-Headers'))
    ctx.set('Access-Control-Expose-Headers', 'Retry-After');
  return next();
};

/** oidc-provider builds URLs, and decides whether cookies are secure, by the request's origin: it is ours, whatever Host says. */
function pinAddress(app: Koa, url: URL): void {
  Object.defineProperties(app.request, {
    origin: { get: () => url.origin },
    protocol: { get: () => url.protocol.slice(0, -1) },
    secure: { get: () => url.protocol === 'https:' },
    host: { get: () => url.host },
    hostname: { get: () => url.hostname },
  });
}
