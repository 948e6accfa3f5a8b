import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Probes } from '#lib/http/probes.ts';
import { problemStatus, toFailure, toProblem } from '#lib/http/problem.ts';
import type { CheckCaller } from '#lib/internal/caller-tokens.ts';
import { acceptRequestId, type Logger, runWithRequestId } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import { openRequestTrace, type RequestTrace, type Tracing } from '#lib/observability/tracing.ts';

/** The operations of a service, and the services that may call each. */
export interface Offer<T extends object = object> {
  service: string;
  operations: T;
  callers: Readonly<Record<keyof T & string, readonly string[]>>;
}

interface Reply {
  status: number;
  headers?: Record<string, string>;
  text: string;
}

type Operation = (input: unknown) => Promise<unknown>;

/** Twice a page of 100 elements of the largest size (docs/interface.md, "Limits"). */
const maxBytes = 200 * 2 ** 20;

/**
 * Serves `POST /internal/<service>/<operation>` to other services (ADR 7): JSON in, JSON out, Failures as
 * problem documents. The caller's token is checked before the body is read. Errors of the call itself have
 * the type about:blank: they are not Failures of the operation, and the caller does not pass them on.
 */
export function serveOperations({
  offer,
  checkCaller,
  log,
  tracing,
  clock = Date.now,
}: {
  offer: Offer;
  checkCaller: CheckCaller;
  log: Logger;
  tracing?: Tracing | undefined;
  /** The clock that tokens are checked with, in ms. */
  clock?: () => number;
}): RequestListener {
  const prefix = `/internal/${offer.service}/`;
  const operations = new Map(Object.entries(offer.operations as Record<string, Operation>));
  const callers = new Map(Object.entries(offer.callers as Record<string, readonly string[]>));

  async function respond(request: IncomingMessage, trace?: RequestTrace): Promise<Reply> {
    const path = request.url ?? '';
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    const allowed = callers.get(name);
    const operation = operations.get(name);
    if (!allowed || !operation) return refusal(404, 'Operation not found.');
    if (request.method !== 'POST')
      return refusal(405, 'Method not allowed; allowed methods: POST.', { Allow: 'POST' });
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
    const caller = token === undefined ? undefined : await checkCaller(token);
    if (caller === undefined)
      return refusal(401, 'The call has no valid service token.', {
        'WWW-Authenticate': 'Bearer',
        // The clock that tokens are checked with, which may differ from that of the machine.
        Date: new Date(clock()).toUTCString(),
      });
    trace?.continueFrom(request.headers.traceparent?.toString());
    if (!allowed.includes(caller)) return refusal(403, `${caller} may not call this operation.`);
    const text = await readText(request);
    if (text === undefined) return refusal(413, `The body must not exceed ${maxBytes} bytes.`);
    return run(name, operation, text);
  }

  async function run(name: string, operation: Operation, text: string): Promise<Reply> {
    try {
      return { status: 200, text: JSON.stringify((await operation(JSON.parse(text))) ?? null) };
    } catch (error) {
      const failure = toFailure(error);
      const { status } = problemStatus[failure.code];
      // The cause is not sent, so it can only be logged here.
      if (status >= 500)
        log.error('call of an internal operation failed', {
          operation: name,
          code: failure.code,
          error: failure.cause ?? failure,
        });
      const text = JSON.stringify(toProblem(failure, '', `${prefix}${name}`));
      return { status, headers: failure.headers, text };
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    const trace = openRequestTrace(tracing, started);
    const operation = request.url?.slice(prefix.length);
    const endTrace = (outcome: { status: number } | { error: string }) => {
      // A call of an unknown operation is not traced: its name could be anything, also personal data.
      if (operation !== undefined && callers.has(operation))
        trace?.end(`POST ${prefix}${operation}`, {
          service: offer.service,
          operation,
          method: 'POST',
          ...outcome,
        });
    };
    try {
      const work = () => respond(request, trace);
      const reply = await (trace ? trace.run(work) : work());
      send(response, reply);
      const { status } = reply;
      const ms = Math.round((performance.now() - started) * 10) / 10;
      log.info('internal operation called', { operation, status, ms });
      endTrace({ status });
    } catch {
      // The caller has disconnected, or was disconnected for being too slow.
      response.destroy();
      endTrace({ error: 'disconnected' });
    }
  }

  return (request, response) => {
    const requestId = acceptRequestId(request.headers['x-request-id']?.toString());
    void runWithRequestId(requestId, () => serve(request, response));
  };
}

function refusal(status: number, detail: string, headers: Record<string, string> = {}): Reply {
  return { status, headers, text: JSON.stringify({ type: 'about:blank', status, detail }) };
}

/** @returns undefined if the body is too long. @throws if the connection breaks. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, headers, text }: Reply): void {
  if (response.destroyed) return;
  const type = status === 200 ? 'application/json' : 'application/problem+json';
  response
    .writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) })
    .end(text);
}

/** The internal port, which must not be exposed: probes, `/metrics`, and operations for other services. */
export interface InternalFront {
  handle: RequestListener;
  /** Enables everything besides probes. @param operations serves `/internal/<service>/<operation>`. */
  open(parts: { metrics: Pick<Metrics, 'read'>; operations?: RequestListener }): void;
}

export function createInternalFront(probes: Probes): InternalFront {
  let metrics: Pick<Metrics, 'read'> | undefined;
  let operations: RequestListener | undefined;
  return {
    handle(request, response) {
      if (probes.handle(request, response)) return;
      if (request.url === '/metrics' && metrics) return void sendMetrics(response, metrics);
      if (operations) return operations(request, response);
      // Still starting: callers use another replica.
      response.writeHead(503, { 'Retry-After': '1' }).end();
    },
    open(parts) {
      metrics = parts.metrics;
      operations = parts.operations ?? ((_request, response) => response.writeHead(404).end());
    },
  };
}

async function sendMetrics(response: ServerResponse, metrics: Pick<Metrics, 'read'>): Promise<void> {
  try {
    const { contentType, body } = await metrics.read();
    response.writeHead(200, { 'Content-Type': contentType }).end(body);
  } catch {
    response.writeHead(500).end();
  }
}
