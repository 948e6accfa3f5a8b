import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { problemStatus, toFailure, toProblem } from '#lib/http/problem.ts';
import type { CheckCaller } from '#lib/internal/caller-tokens.ts';
import { acceptRequestId, type Logger, runWithRequestId } from '#lib/observability/logger.ts';

/** What a service offers to others: its operations, and who may call each of them. */
export interface Offer<T extends object = object> {
  service: string;
  operations: T;
  callers: Readonly<Record<keyof T & string, readonly string[]>>;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  text: string;
}

type Operation = (input: unknown) => Promise<unknown>;

/** A page of 100 elements, each as large as a model may be (docs/interface.md, "Limits"), and as much again. */
const mostBytes = 200 * 2 ** 20;

/**
 * Serves `POST /internal/<service>/<operation>` to other services (ADR 7): JSON in, JSON out, Failures as problem documents.
 * Who calls is proved by the caller's token before anything is read. What is wrong with the call itself is no Failure of the operation
 * and no caller's client must be told it: such an answer has the type about:blank.
 */
export function serveOperations({
  offer,
  checkCaller,
  log,
  clock = Date.now,
}: {
  offer: Offer;
  checkCaller: CheckCaller;
  log: Logger;
  /** By which tokens are checked. */
  clock?: () => number;
}): RequestListener {
  const prefix = `/internal/${offer.service}/`;
  const operations = new Map(Object.entries(offer.operations as Record<string, Operation>));
  const callers = new Map(Object.entries(offer.callers as Record<string, readonly string[]>));

  async function answer(request: IncomingMessage): Promise<Answer> {
    const path = request.url ?? '';
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    const allowed = callers.get(name);
    const operation = operations.get(name);
    if (!allowed || !operation) return refusal(404, 'There is no such operation.');
    if (request.method !== 'POST')
      return refusal(405, 'Method not allowed; allowed methods: POST.', { Allow: 'POST' });
    const token = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
    const caller = token === undefined ? undefined : await checkCaller(token);
    if (caller === undefined)
      return refusal(401, 'The call has no valid token of a service.', {
        'WWW-Authenticate': 'Bearer',
        // The one that tokens go by, which may be another than that of the machine.
        Date: new Date(clock()).toUTCString(),
      });
    if (!allowed.includes(caller)) return refusal(403, `${caller} may not call this operation.`);
    const text = await readText(request);
    if (text === undefined) return refusal(413, `A call may be ${mostBytes} bytes long.`);
    return run(name, operation, text);
  }

  async function run(name: string, operation: Operation, text: string): Promise<Answer> {
    try {
      return { status: 200, text: JSON.stringify((await operation(JSON.parse(text))) ?? null) };
    } catch (error) {
      const failure = toFailure(error);
      const { status } = problemStatus[failure.code];
      // A cause does not travel: here is the only place where it can be told.
      if (status >= 500)
        log.error('a call failed', { operation: name, code: failure.code, error: failure.cause ?? failure });
      const text = JSON.stringify(toProblem(failure, '', `${prefix}${name}`));
      return { status, headers: failure.headers, text };
    }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const started = performance.now();
    try {
      const answered = await answer(request);
      send(response, answered);
      const ms = Math.round((performance.now() - started) * 10) / 10;
      log.info('call', { operation: request.url?.slice(prefix.length), status: answered.status, ms });
    } catch {
      // The caller has gone, or was cut off because it was too slow.
      response.destroy();
    }
  }

  return (request, response) => {
    const requestId = acceptRequestId(request.headers['x-request-id']?.toString());
    void runWithRequestId(requestId, () => serve(request, response));
  };
}

function refusal(status: number, detail: string, headers: Record<string, string> = {}): Answer {
  return { status, headers, text: JSON.stringify({ type: 'about:blank', status, detail }) };
}

/** @returns undefined if it is too long. @throws if the connection breaks. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, { status, headers, text }: Answer): void {
  if (response.destroyed) return;
  const type = status === 200 ? 'application/json' : 'application/problem+json';
  response
    .writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) })
    .end(text);
}
