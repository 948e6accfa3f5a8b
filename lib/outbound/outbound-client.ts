import type { LookupFunction, Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import { createKeyedLimiter } from '#lib/async/keyed-limiter.ts';
import { createAddressRules } from '#lib/outbound/address-rules.ts';
import { sendInSpan } from '#lib/outbound/request-span.ts';
import {
  createGuardedLookup,
  OutboundFailed,
  OutboundRefused,
  type Resolve,
  readTarget,
  resolveBySystem,
} from '#lib/outbound/targets.ts';

export interface OutboundRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: Uint8Array;
  /** For the whole request, including the wait for a connection; 5 s by default. */
  timeoutMs?: number;
  /** Of the response body; 2 MiB by default. */
  maxBytes?: number;
  continuesTrace?: boolean; // The server gets the header `traceparent`.
}

export interface OutboundResponse {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Calls addresses that others chose: webhooks and peers. */
export interface OutboundClient {
  /** @throws OutboundRefused if the URL or the response is refused, OutboundFailed if the request failed. */
  request(request: OutboundRequest): Promise<OutboundResponse>;
  /** Aborts all requests and closes all connections. */
  stop(): Promise<void>;
}

interface Options {
  /** CIDRs that may be called besides the public internet. */
  allowedNetworks: readonly string[];
  resolve?: Resolve;
  /** Certificates of the authorities to trust instead of Node's own. */
  ca?: string;
  /** Time-out of DNS, TCP and TLS together; 2 s by default. */
  connectMs?: number;
  /** Limits of concurrent requests; `total` also limits open connections. */
  limits?: { perHost: number; total: number };
}

/** How long a connection is kept idle; a server may shorten it by its `Keep-Alive` header. */
const idleMs = 4_000;
/** Limit of the response headers. */
const maxHeaderSize = 16 * 1024;
/**
 * Limit of the bytes before the body, and of those of the body that arrive with them: undici does not limit a
 * status line.
 */
const maxHeadBytes = 256 * 1024;
/** Per address of a name. Node's default of 250 ms is too short for distant servers. */
const autoSelectFamilyAttemptTimeout = 800;

/** Headers that belong to the connection (RFC 9110 §7.6.1), or that the client sets itself. */
const withheld = new Set([
  'host',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
  'accept-encoding',
  'proxy-authorization',
  'proxy-connection',
]);

/**
 * The guarded client (docs/security.md): http and https to allowed addresses only; no redirects, no proxy, no
 * decompression; bounded in time, in bytes and in connections.
 */
export function createOutboundClient({
  allowedNetworks,
  resolve = resolveBySystem,
  ca,
  connectMs = 2_000,
  limits = { perHost: 8, total: 64 },
}: Options): OutboundClient {
  const isAllowed = createAddressRules(allowedNetworks);
  const connect = createConnector({ lookup: createGuardedLookup(resolve, isAllowed), ca, connectMs });
  const limiter = createKeyedLimiter({ perKey: limits.perHost, total: limits.total });
  const connections = createConnections(connect, limits.total);
  const running = new Map<AbortController, Promise<unknown>>();
  let stopped = false;

  async function send(request: OutboundRequest, signal: AbortSignal): Promise<OutboundResponse> {
    const target = readTarget(request.url, isAllowed);
    const leave = await limiter.enter(target.hostname, signal);
    const connection = connections.take(target.origin);
    let reusable = false;
    try {
      const response = await exchange(connection, target.path, request, signal);
      reusable = true;
      return response;
    } catch (error) {
      throw signal.aborted ? signal.reason : toFailure(error);
    } finally {
      connections.giveBack(target.origin, connection, reusable);
      leave();
    }
  }

  async function sendInTime(request: OutboundRequest): Promise<OutboundResponse> {
    if (stopped) throw new OutboundFailed('closed');
    const controller = new AbortController();
    const onTimeout = () => controller.abort(new OutboundFailed('timeout'));
    const timer = setTimeout(onTimeout, request.timeoutMs ?? 5_000);
    const sent = send(request, controller.signal);
    running.set(controller, sent);
    try {
      return await sent;
    } finally {
      clearTimeout(timer);
      running.delete(controller);
    }
  }

  return {
    request: (request) => sendInSpan(request, sendInTime),
    async stop() {
      stopped = true;
      const last = [...running.values()];
      for (const controller of running.keys()) controller.abort(new OutboundFailed('closed'));
      await Promise.allSettled(last);
      connections.close();
    },
  };
}

/**
 * Connects a socket with our `lookup` and names what failed. TLS certificates are verified even if
 * NODE_TLS_REJECT_UNAUTHORIZED is 0.
 */
function createConnector({
  lookup,
  ca,
  connectMs,
}: {
  lookup: LookupFunction;
  ca: string | undefined;
  connectMs: number;
}): Connect {
  const connect = buildConnector({
    lookup,
    timeout: 0,
    allowH2: false,
    autoSelectFamilyAttemptTimeout,
    rejectUnauthorized: true,
    ...(ca ? { ca } : {}),
  });
  return (connection) => (options, callback) => {
    let stage: 'connect' | 'tls' = 'connect';
    // biome-ignore lint/plugin: undici's type hides that a connector returns the socket.
    const socket = connect(options, (...[error, connected]) => {
      clearTimeout(timer);
      if (error) return callback(toFailure(error, stage), null);
      watchHead(connection, connected);
      callback(null, connected);
    }) as unknown as Socket;
    const timer = setTimeout(() => socket.destroy(new OutboundFailed('timeout')), connectMs);
    socket.once('connect', () => {
      if (options.protocol === 'https:') stage = 'tls';
    });
  };
}

/** Ends a connection whose response has too many bytes before its body. */
function watchHead(connection: Connection, socket: Socket): void {
  connection.socket = socket;
  socket.on('readable', () => {
    const { headFrom } = connection;
    if (headFrom !== undefined && socket.bytesRead - headFrom > maxHeadBytes)
      socket.destroy(new OutboundRefused('too-large'));
  });
}

/** A client of undici with one connection. */
interface Connection {
  client: Client;
  socket?: Socket;
  /** How many bytes had been received when a request was sent; undefined unless it waits for a response. */
  headFrom?: number | undefined;
}

type Connect = (connection: Connection) => buildConnector.connector;

/** Keeps idle connections per origin. At most `total` are open, idle ones included. */
function createConnections(connect: Connect, total: number) {
  const idle = new Map<Connection, string>();
  let busy = 0;
  const discard = (connection: Connection) => {
    idle.delete(connection);
    void connection.client.destroy();
  };
  return {
    take(origin: string): Connection {
      busy += 1;
      for (const [connection, of] of idle)
        if (of === origin) {
          idle.delete(connection);
          return connection;
        }
      for (const each of [...idle.keys()].slice(0, Math.max(0, idle.size + busy - total))) discard(each);
      const connection = {} as Connection;
      connection.client = new Client(origin, {
        connect: connect(connection),
        maxHeaderSize,
        keepAliveTimeout: idleMs,
        keepAliveMaxTimeout: idleMs,
        // The whole request has one time-out.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      connection.client.on('disconnect', () => idle.has(connection) && discard(connection));
      return connection;
    },
    giveBack(origin: string, connection: Connection, reusable: boolean): void {
      busy -= 1;
      if (reusable) idle.set(connection, origin);
      else discard(connection);
    },
    close(): void {
      for (const connection of idle.keys()) discard(connection);
    },
  };
}

async function exchange(
  connection: Connection,
  path: string,
  { method, headers, body, maxBytes = 2 * 1024 * 1024 }: OutboundRequest,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  const own = Object.entries(headers).filter(([name]) => !withheld.has(name.toLowerCase()));
  connection.headFrom = connection.socket?.bytesRead ?? 0;
  const response = await connection.client.request({
    path,
    method: method as 'POST',
    // Without decompression a small body cannot become a large one.
    headers: { ...Object.fromEntries(own), 'Accept-Encoding': 'identity' },
    body: body ?? null,
    signal,
  });
  connection.headFrom = undefined;
  const { statusCode: status } = response;
  if (status >= 300 && status < 400) throw new OutboundRefused('redirect');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new OutboundRefused('too-large');
    chunks.push(chunk);
  }
  const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
  return { status, headers: Object.fromEntries(received), body: new Uint8Array(Buffer.concat(chunks)) };
}

/** Errors of Node and undici are not passed on: they may quote the response or the URL. */
function toFailure(
  error: unknown,
  stage: 'connect' | 'tls' | 'closed' = 'closed',
): OutboundRefused | OutboundFailed {
  if (error instanceof OutboundRefused || error instanceof OutboundFailed) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new OutboundRefused('too-large');
  return new OutboundFailed(stage, code);
}
