import Koa, { type Context, type Middleware } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { withoutParameters } from '#lib/http/accept.ts';
import { boundHead } from '#lib/http/bound-head.ts';
import { clientAddress } from '#lib/http/client-address.ts';
import { handleErrors, type RenderErrorPage } from '#lib/http/handle-errors.ts';
import { type Pacer, withoutCharge } from '#lib/http/pacer.ts';
import { drainBody } from '#lib/http/request-body.ts';
import { acceptRequestId, type Logger, runWithRequestId } from '#lib/observability/logger.ts';
import type { HttpMetrics } from '#lib/observability/metrics/http-metrics.ts';
import { openRequestTrace, type Tracing } from '#lib/observability/tracing.ts';

interface AppOptions {
  service: string;
  baseUrl: string;
  /** Version of the contract, sent as `API-Version` (docs/interface.md, "Versions"). */
  apiVersion: string;
  trustedProxies: readonly string[];
  /** Absent: strangers are not paced. */
  pacer?: Pacer | undefined;
  log: Logger;
  metrics?: { http: HttpMetrics };
  tracing?: Tracing | undefined;
  renderErrorPage?: RenderErrorPage;
}

/**
 * A service's Koa application with the middleware of every service: client address, pace, request id, log
 * line, headers, errors.
 */
export function createApp(
  { service, baseUrl, apiVersion, log, metrics, tracing, renderErrorPage, ...options }: AppOptions,
  middleware: Middleware[],
): Koa {
  const app = new Koa();
  app.use(clientAddress(options.trustedProxies));
  if (options.pacer) app.use(options.pacer.pace);
  app.use(observe({ service, log: log.child({ service }), apiVersion, metrics: metrics?.http, tracing }));
  app.use(simplifyAccept);
  app.use(handleErrors({ baseUrl, log: log.child({ service }), renderErrorPage }));
  app.use(rejectBadHead);
  for (const each of middleware) app.use(each);
  app.on('error', (error: unknown, ctx?: Context) => {
    if (isClientError((error as { code?: string }).code)) return;
    log.error('failed to send a response', { service, requestId: ctx?.state.requestId, error });
  });
  return app;
}

/** Whether the client disconnected or sent bytes that are not HTTP. */
function isClientError(code = ''): boolean {
  return ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'].includes(code) || code.startsWith('HPE_');
}

/** Once for all that negotiate: operations, pages, the issuer's library. */
const simplifyAccept: Middleware = ({ req: { headers } }, next) => {
  if (headers.accept !== undefined) headers.accept = withoutParameters(headers.accept);
  return next();
};

const rejectBadHead: Middleware = (ctx, next) => {
  if (ctx.state.headFault) throw fail('malformed', ctx.state.headFault);
  return next();
};

interface Observation {
  service: string;
  log: Logger;
  apiVersion: string;
  metrics: HttpMetrics | undefined;
  tracing: Tracing | undefined;
}

/** Gives each request an id and a span, and logs and measures it when it is finished. */
function observe({ service, log, apiVersion, metrics, tracing }: Observation): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    // Before anything reads the target or a header; the error middleware below answers it.
    ctx.state.headFault = boundHead(ctx.req);
    const requestId = acceptRequestId(ctx.get('x-request-id'));
    ctx.state.requestId = requestId;
    ctx.res.setHeader('X-Request-Id', requestId);
    ctx.res.setHeader('API-Version', apiVersion);
    const trace = openRequestTrace(tracing, started);
    ctx.state.trace = trace;
    await runWithRequestId(requestId, trace ? () => trace.run(next) : next);
    await withoutCharge(ctx, () => drainBody(ctx.req, ctx.res));
    const ms = performance.now() - started;
    const { operationId: operation, route, isSubmit = false } = ctx.state;
    metrics?.answered({ service, operation, status: ctx.status, ms, isSubmit });
    const { method, status } = ctx;
    trace?.end(route ? `${method} ${route}` : method, { service, operation, method, route, status });
    log.info('request', { requestId, operation, method, status, ms: Math.round(ms * 10) / 10 });
  };
}
