import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { vi } from 'vitest';
import { patience } from '../run/patience.ts';
import { type ExportedSpan, readExport } from './otlp-reader.ts';

/** A collector of traces: an HTTP server that takes OTLP in protobuf. */
export interface TraceCollector {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  endpoint: string;
  spans(): ExportedSpan[];
  /** Waits for a span. @param what for the message. */
  find(what: string, isWanted: (span: ExportedSpan) => boolean): Promise<ExportedSpan>;
  /** All bytes that have come, as text. */
  bytes(): string;
  requests: readonly { path: string; headers: IncomingHttpHeaders }[];
  connections(): number;
  close(): Promise<void>;
}

/** @param answers false: it accepts connections and never answers. */
export async function startTraceCollector({ answers = true } = {}): Promise<TraceCollector> {
  const bodies: Buffer[] = [];
  const spans: ExportedSpan[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    if (!answers) return;
    void buffer(request).then((body) => {
      bodies.push(body);
      spans.push(...readExport(body));
      response.writeHead(200, { 'Content-Type': 'application/x-protobuf' }).end();
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: () => [...spans],
    find: (what, isWanted) =>
      vi.waitFor(() => {
        const found = spans.find(isWanted);
        if (!found) throw new Error(`no ${what} among: ${spans.map(({ name }) => name).join(', ')}`);
        return found;
      }, patience),
    bytes: () => Buffer.concat(bodies).toString('latin1'),
    requests,
    connections: () => connections,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
