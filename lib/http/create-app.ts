import Koa, { type Context, type Middleware } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { handleErrors, type RenderErrorPage } from '#lib/http/handle-errors.ts';
import { drainBody } from '#lib/http/request-body.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { HttpMetrics } from '#lib/observability/metrics/http-metrics.ts';
import { acceptRequestId, runWithRequestId } from '#lib/observability/request-context.ts';

interface AppOptions {
  service: string;
  baseUrl: string;
  /** Version of the contract, sent as `API-Version` (docs/interface.md, "Versions"). */
  apiVersion: string;
  log: Logger;
  metrics?: { http: HttpMetrics };
  renderErrorPage?: RenderErrorPage;
}

/** A service's Koa application with what every service does: request id, log line, headers, errors. */
export function createApp(
  { service, baseUrl, apiVersion, log, metrics, renderErrorPage }: AppOptions,
  middleware: Middleware[],
): Koa {
  const app = new Koa();
  app.use(observe({ service, log: log.child({ service }), apiVersion, metrics: metrics?.http }));
  app.use(handleErrors({ baseUrl, log: log.child({ service }), renderErrorPage }));
  app.use(refuseBadTarget);
  for (const each of middleware) app.use(each);
  app.on('error', (error: unknown, ctx?: Context) => {
    if (isOfClient((error as { code?: string }).code)) return;
    log.error('a reply could not be sent', { service, requestId: ctx?.state.requestId, error });
  });
  return app;
}

/** A client that went away, or whose bytes are no HTTP, is no fault of ours. */
function isOfClient(code = ''): boolean {
  return ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code) || code.startsWith('HPE_');
}

const refuseBadTarget: Middleware = (ctx, next) => {
  if (ctx.state.badTarget) throw fail('malformed', 'The request target is not a valid address.');
  return next();
};

interface Observation {
  service: string;
  log: Logger;
  apiVersion: string;
  metrics: HttpMetrics | undefined;
}

/** Gives the request an id that follows it, and writes one line when it is over. */
function observe({ service, log, apiVersion, metrics }: Observation): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    // Neither a path nor `*` (RFC 9112 §3.2): reading its path could throw.
    if (!/^[/*]/.test(ctx.req.url ?? '/')) {
      ctx.state.badTarget = true;
      ctx.req.url = '/';
    }
    const requestId = acceptRequestId(ctx.get('x-request-id'));
    ctx.state.requestId = requestId;
    ctx.res.setHeader('X-Request-Id', requestId);
    ctx.res.setHeader('API-Version', apiVersion);
    await runWithRequestId(requestId, next);
    await drainBody(ctx.req, ctx.res);
    const ms = performance.now() - started;
    const { operationId: operation, isSubmit = false } = ctx.state;
    metrics?.answered({ service, operation, status: ctx.status, ms, isSubmit });
    const { method, status } = ctx;
    log.info('request', { requestId, operation, method, status, ms: Math.round(ms * 10) / 10 });
  };
}
