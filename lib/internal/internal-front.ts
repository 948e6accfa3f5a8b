import type { RequestListener, ServerResponse } from 'node:http';
import type { Probes } from '#lib/http/probes.ts';
import type { Metrics } from '#lib/observability/metrics.ts';

/** The internal port, which no Ingress exposes: probes, `/metrics`, and operations for other services. */
export interface InternalFront {
  handle: RequestListener;
  /** From now on there is more than probes. @param operations serves `/internal/<service>/<operation>`. */
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
      // Nothing is there before the service is: callers go to another replica.
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
