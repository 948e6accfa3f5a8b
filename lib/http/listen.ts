import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartupError } from '#lib/errors/startup-error.ts';
import { oneAtATime } from '#lib/http/one-at-a-time.ts';

/** A listening HTTP server with bounds on everything a client may hold open (security.md, "Inbound limits"). */
export interface Listener {
  port: number;
  server: Server;
  /** From now on every answer ends its connection: who sends the next request makes a new one, and perhaps elsewhere. */
  partWithClients(): void;
  /** Takes no new connections, lets requests finish for at most `graceMs`, then closes. */
  close(graceMs: number): Promise<void>;
}

const bounds = {
  requestTimeout: 10_000,
  headersTimeout: 5_000,
  // By default Node looks only every 30 s whether a time is over.
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 8 * 1024,
};
const silenceMs = 30_000;
const tidyMs = 200;

interface Address {
  host: string;
  port: number;
  /** The setting that names the port. */
  setting?: string;
  /** How long a connection may be idle. Behind a proxy that keeps connections: longer than the proxy does. */
  keepAliveMs?: number;
}

/** @throws StartupError when the address cannot be had. */
export async function listen(handler: RequestListener, address: Address): Promise<Listener> {
  const { host, port, setting = 'PORT', keepAliveMs = 5_000 } = address;
  let parting = false;
  const answer = oneAtATime((request, response) => {
    // Who is told so sends the next request elsewhere; who is not would have it cut off.
    if (parting) response.setHeader('Connection', 'close');
    request.url = originForm(request.url ?? '/');
    handler(request, response);
  });
  const server = createServer({ ...bounds, keepAliveTimeout: keepAliveMs }, answer);
  // A client that takes its answer too slowly, or not at all, loses the connection.
  server.setTimeout(silenceMs);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, { host, port, setting })));
    server.listen(port, host, resolve);
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    partWithClients() {
      parting = true;
    },
    close(graceMs) {
      parting = true;
      return close(server, graceMs);
    },
  };
}

/**
 * Reduces the absolute-form of a request target, which every server must accept (RFC 9112 §3.2.2), to path and query. What is no
 * address is left as it is; create-app.ts refuses it.
 */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const url = /^https?:/i.test(target) ? URL.parse(target) : null;
  return url ? url.pathname + url.search : target;
}

function explain(
  error: NodeJS.ErrnoException,
  { host, port, setting }: Required<Omit<Address, 'keepAliveMs'>>,
): Error {
  if (error.code === 'EADDRINUSE')
    return new StartupError(
      `Port ${port} on ${host} is taken; set ${setting} to a free one (${setting}=0 finds one).`,
    );
  if (error.code === 'EACCES')
    return new StartupError(
      `Port ${port} on ${host} may not be opened by this user; set ${setting} to one above 1023.`,
    );
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new StartupError(`HOST=${host} is not an address of this machine.`);
  return new StartupError(`The server cannot listen on ${host}:${port} (${error.code}).`, { cause: error });
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Node itself looks at idle connections only once, and some are not idle yet.
  const tidying = setInterval(() => server.closeIdleConnections(), tidyMs);
  const cutting = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(tidying);
  clearTimeout(cutting);
}
