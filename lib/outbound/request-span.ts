import { currentTraceparent, runInChildSpan } from '#lib/observability/tracing.ts';

interface TracedRequest {
  method: string;
  headers: Record<string, string>;
  continuesTrace?: boolean;
}

/**
 * Sends a request of a trace in a span, which has no address: a webhook's may contain a token. Outside of a
 * trace there is no span. A server gets the header `traceparent` only if the request `continuesTrace`.
 */
export function sendInSpan<Request extends TracedRequest, Response extends { status: number }>(
  request: Request,
  send: (request: Request) => Promise<Response>,
): Promise<Response> {
  const { method, headers, continuesTrace } = request;
  return runInChildSpan({ name: method, kind: 'client', fields: { method } }, async (fields) => {
    const traceparent = continuesTrace ? currentTraceparent() : undefined;
    const response = await send(traceparent ? { ...request, headers: { ...headers, traceparent } } : request);
    fields.status = response.status;
    return response;
  });
}
