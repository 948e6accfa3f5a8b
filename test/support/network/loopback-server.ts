import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A server of this machine that counts who comes. */
export interface LoopbackServer {
  port: number;
  /** Connections since it began, whatever was sent over them. */
  connections(): number;
  requests(): number;
  /** Connections that are open now. */
  open(): Promise<number>;
  close(): Promise<void>;
}

/**
 * Starts a server. @param certificate makes it one that speaks TLS. @param address another of this machine's
 * loopback addresses.
 */
export async function startLoopbackServer(
  answer: RequestListener,
  {
    certificate,
    address = '127.0.0.1',
  }: { certificate?: { key: string; cert: string }; address?: string } = {},
): Promise<LoopbackServer> {
  let connections = 0;
  let requests = 0;
  const listener: RequestListener = (request, response) => {
    requests += 1;
    request.resume();
    answer(request, response);
  };
  const server: Server = certificate ? createSecureServer(certificate, listener) : createServer(listener);
  server.on('connection', () => {
    connections += 1;
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, address, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    requests: () => requests,
    open: () =>
      new Promise((resolve, reject) => {
        server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
