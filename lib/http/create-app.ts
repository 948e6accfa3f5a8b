import { randomUUID } from 'node:crypto';
import Koa, { type Context, type Middleware } from 'koa';
import { handleErrors, type RenderErrorPage } from '#lib/http/handle-errors.ts';
import type { Logger } from '#lib/observability/logger.ts';

interface AppOptions {
  service: string;
  baseUrl: string;
  /** Version of the contract, sent as `API-Version` (decisions.md §11). */
  apiVersion: string;
  log: Logger;
  renderErrorPage?: RenderErrorPage;
}

/** A service's Koa application with what every service does: request id, log line, headers, errors. */
export function createApp(
  { service, baseUrl, apiVersion, log, renderErrorPage }: AppOptions,
  middleware: Middleware[],
): Koa {
  const app = new Koa();
  app.use(observe(log.child({ service }), apiVersion));
  app.use(handleErrors({ baseUrl, log: log.child({ service }), renderErrorPage }));
  for (const each of middleware) app.use(each);
  app.on('error', (error: unknown, ctx?: Context) => {
    // A client that went away is no fault of ours.
    const code = (error as { code?: string }).code;
    if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    log.error('a reply could not be sent', { service, requestId: ctx?.state.requestId, error });
  });
  return app;
}

const wellFormedId = /^[0-9A-Za-z_.-]{8,64}$/;

/** Gives the request an id that follows it, and writes one line when it is over. */
function observe(log: Logger, apiVersion: string): Middleware {
  return async (ctx, next) => {
    const started = performance.now();
    const given = ctx.get('x-request-id');
    ctx.state.requestId = wellFormedId.test(given) ? given : randomUUID();
    ctx.set('X-Request-Id', ctx.state.requestId);
    ctx.set('API-Version', apiVersion);
    await next();
    log.info('request', {
      requestId: ctx.state.requestId,
      operation: ctx.state.operationId,
      method: ctx.method,
      status: ctx.status,
      ms: Math.round((performance.now() - started) * 10) / 10,
    });
  };
}
