import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { vi } from 'vitest';

/** A request to the gateway. */
export interface GatewayRequest {
  path: string;
  headers: IncomingHttpHeaders;
  /** JSON or form fields, as a flat map. */
  fields: Record<string, string>;
}

export interface SmsGateway {
  /** Address without credentials. */
  origin: string;
  requests: readonly GatewayRequest[];
  /** Waits for the n-th accepted message to a number. */
  waitFor(to: string, count?: number): Promise<GatewayRequest>;
  /** Status of all replies from now on. */
  reply(status: number): void;
  close(): Promise<void>;
}

/** Starts a real HTTP gateway for text messages, which takes JSON and form fields. */
export async function startSmsGateway(): Promise<SmsGateway> {
  const requests: GatewayRequest[] = [];
  const accepted: GatewayRequest[] = [];
  let status = 202;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const isJson = request.headers['content-type'] === 'application/json';
      const fields = isJson ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
      const received = { path: request.url ?? '', headers: request.headers, fields };
      requests.push(received);
      if (status < 300) accepted.push(received);
      // Gateways quote what they refuse.
      response.writeHead(status).end(status < 300 ? '{}' : body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const to = (number: string) => accepted.filter(({ fields }) => (fields.to ?? fields.To) === number);
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    waitFor: (number, count = 1) =>
      vi.waitFor(
        () => {
          const found = to(number)[count - 1];
          if (!found) throw new Error(`${number} has got ${to(number).length} messages, not ${count}`);
          return found;
        },
        { timeout: 20_000, interval: 20 },
      ),
    reply: (next) => {
      status = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
