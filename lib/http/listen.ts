import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { StartupError } from '#lib/errors/fail.ts';
import { answerClientErrors, maxHeaderSize } from '#lib/http/client-errors.ts';

/** A listening HTTP server that bounds what a client may hold open. */
export interface Listener {
  port: number;
  server: Server;
  /**
   * From now on every response closes its connection, so that clients connect again, perhaps to another
   * replica.
   */
  closeConnections(): void;
  /** Stops accepting connections, and cuts off the requests that are not finished after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/**
 * How long headers and whole requests may take to arrive. The clock also runs while the process itself gets
 * no processor, as in a pod that starts on a busy node; the client has sent everything then, and must not get
 * 408.
 */
const arrival = { headersTimeout: 20_000, requestTimeout: 30_000 };
const bounds = {
  ...arrival,
  // Node.js checks the time-outs above only every 30 s by default.
  connectionsCheckingInterval: 1_000,
  maxHeaderSize,
};
const idleSocketMs = 30_000;
const closeIdleIntervalMs = 200;

interface Address {
  host: string;
  port: number;
  /** The setting that names the port. */
  setting?: string;
  /** How long a connection may be idle; longer than a proxy in front keeps its connections. */
  keepAliveMs?: number;
}

/** @throws StartupError if the address cannot be used. */
export async function listen(handler: RequestListener, address: Address): Promise<Listener> {
  const { host, port, setting = 'PORT', keepAliveMs = 5_000 } = address;
  let isDraining = false;
  const { serialized, isAnswering } = serializeByConnection((request, response) => {
    // Otherwise the client's next request would be cut off.
    if (isDraining) response.setHeader('Connection', 'close');
    request.url = originForm(request.url ?? '/');
    handler(request, response);
  });
  const server = createServer({ ...bounds, keepAliveTimeout: keepAliveMs }, serialized);
  answerClientErrors(server, isAnswering);
  // Disconnects clients that read their response too slowly.
  server.setTimeout(idleSocketMs);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(explain(error, { host, port, setting })));
    server.listen(port, host, resolve);
  });
  return {
    server,
    port: (server.address() as AddressInfo).port,
    closeConnections() {
      isDraining = true;
    },
    close(graceMs) {
      isDraining = true;
      return close(server, graceMs);
    },
  };
}

/**
 * Reduces the absolute-form of a request target, which every server must accept (RFC 9112 §3.2.2), to path
 * and query. An invalid target is left as it is; create-app.ts rejects it.
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
      `Port ${port} on ${host} is in use; set ${setting} to a free one (${setting}=0 finds one).`,
    );
  if (error.code === 'EACCES')
    return new StartupError(
      `Port ${port} on ${host} cannot be opened by this user; set ${setting} to one above 1023.`,
    );
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND')
    return new StartupError(`HOST=${host} is not an address of this machine.`);
  return new StartupError(`The server cannot listen on ${host}:${port} (${error.code}).`, { cause: error });
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Node.js closes idle connections only once, and some are not idle yet.
  const closingIdle = setInterval(() => server.closeIdleConnections(), closeIdleIntervalMs);
  const cutting = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearInterval(closingIdle);
  clearTimeout(cutting);
}

/** Reading from a connection pauses when so many of its requests wait. */
const maxPipelined = 8;

interface Connection {
  /** The response in progress. */
  response: ServerResponse;
  waiting: [IncomingMessage, ServerResponse][];
}

/**
 * Handles the pipelined requests of a connection (RFC 9112 §9.3.2) one after the other. Node.js would start
 * all of them at once, so that a few connections could starve all others.
 * @returns the handler, and whether a response has begun on a connection and has not ended.
 */
function serializeByConnection(handler: RequestListener): {
  serialized: RequestListener;
  isAnswering: (socket: Socket) => boolean;
} {
  /** Connections that have a request in progress. */
  const busy = new WeakMap<Socket, Connection>();

  function start(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = busy.get(socket) ?? { response, waiting: [] };
    connection.response = response;
    busy.set(socket, connection);
    response.once('close', () => {
      const { waiting } = connection;
      const next = waiting.shift();
      if (waiting.length === maxPipelined - 1) socket.resume();
      // In another turn of the event loop: requests that are answered synchronously must not starve other
      // connections.
      if (next && !socket.destroyed) setImmediate(start, ...next);
      else busy.delete(socket);
    });
    handler(request, response);
  }

  return {
    isAnswering: (socket) => busy.get(socket)?.response.headersSent ?? false,
    serialized(request, response) {
      const connection = busy.get(request.socket);
      if (!connection) start(request, response);
      else if (connection.waiting.push([request, response]) === maxPipelined) request.socket.pause();
    },
  };
}
