import {
  Agent,
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** One replica of a service, as the router sees it. */
export interface RoutedReplica {
  /** The public port. */
  port: number;
  internalPort: number;
}

/** What stands in front of replicas: knows prefixes, and asks each replica whether it is ready. */
export interface PrefixRouter {
  url: string;
  /** Until it is called nothing is there. @param routes replicas by path prefix. */
  serve(routes: Readonly<Record<string, readonly RoutedReplica[]>>): void;
  /** Waits until the router sends requests to so many replicas. */
  seen(count: number): Promise<void>;
  stop(): Promise<void>;
}

/** Public paths of each service, as any Ingress is given them (docs/architecture.md). */
const publicPaths: Readonly<Record<string, readonly string[]>> = {
  auth: ['/auth', '/accounts', '/audit/auth', '/keys', '/user'],
  forms: ['/'],
  transactions: [
    '/consents',
    '/f',
    '/l',
    '/verify',
    '/transactions',
    '/records',
    '/subjects',
    '/receipts',
    '/stats',
    '/demo/messages',
    '/user/records',
    '/audit/consents',
    '/decisions',
    '/access',
    '/choices',
    '/erasures',
    '/campaigns',
    '/.well-known/authzen-configuration',
  ],
  peers: [
    '/peers',
    '/federation',
    '/.well-known/accord',
    '/.well-known/jwks.json',
    '/audit/peers',
    '/audit/checkpoints',
  ],
  webhooks: ['/webhooks', '/audit/webhooks'],
  console: ['/console'],
};

/** Routes to Accord's services. @param replicasOf those of one; there may be none. */
export function routesTo<R extends RoutedReplica>(
  replicasOf: (service: string) => readonly R[],
): Record<string, readonly R[]> {
  const routes = Object.entries(publicPaths).flatMap(([service, paths]) => {
    const replicas = replicasOf(service);
    return replicas.length > 0 ? paths.map((prefix) => [prefix, replicas] as const) : [];
  });
  return Object.fromEntries(routes);
}

const probeMs = 200;
const probePatienceMs = 1_000;
/** One that says nothing for so long gets no more requests: on a busy machine a probe may be late. */
const silenceMs = 3_000;
/** So long a request waits for a replica that is ready. */
const queueMs = 5_000;
/** Nothing was sent to a replica that did not take the connection. */
const neverSent = new Set(['ECONNREFUSED']);
/** More than any body may have (docs/interface.md, "Limits"). */
const mostBytes = 4 * 2 ** 20;

/**
 * A plain prefix router, as an Ingress is: longest prefix first, round robin over replicas whose /readyz says
 * 200.
 */
export async function startPrefixRouter(): Promise<PrefixRouter> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const ready = new Set<RoutedReplica>();
  let prefixes: (readonly [string, readonly RoutedReplica[]])[] = [];
  let turn = 0;

  function choose(path: string): RoutedReplica[] {
    const found = prefixes.find(
      ([prefix]) => prefix === '/' || path === prefix || path.startsWith(`${prefix}/`),
    );
    const able = (found?.[1] ?? []).filter((replica) => ready.has(replica));
    turn += 1;
    return able.map((_, index) => able[(turn + index) % able.length] as RoutedReplica);
  }

  /** A replica that pauses for a moment refuses nothing: as a proxy that queues, this one waits for it. */
  async function chooseInTime(path: string): Promise<RoutedReplica[]> {
    const end = performance.now() + queueMs;
    let able = choose(path);
    while (able.length === 0 && performance.now() < end) {
      await new Promise((done) => setTimeout(done, probeMs));
      able = choose(path);
    }
    return able;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const path = (request.url ?? '/').split('?', 1)[0] as string;
    let why = 'no replica is ready';
    for (const replica of await chooseInTime(path)) {
      const outcome = await forward(agent, replica, { request, response, body });
      if (outcome === 'answered') return;
      ready.delete(replica);
      why = `${outcome} to ${replica.port}`;
      if (outcome === 'unknown') break;
    }
    response.writeHead(response.headersSent ? 200 : 502).end(why);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  let probing: NodeJS.Timeout | undefined;
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    serve(routes) {
      prefixes = Object.entries(routes).sort(([a], [b]) => b.length - a.length);
      const replicas = new Set(Object.values(routes).flat());
      const heardAt = new Map<RoutedReplica, number>();
      const ask = async (replica: RoutedReplica) => {
        const said = await askWhetherReady(replica);
        if (said !== 'nothing') heardAt.set(replica, performance.now());
        if (said === 'yes') ready.add(replica);
        else if (said === 'no' || performance.now() - (heardAt.get(replica) ?? 0) > silenceMs)
          ready.delete(replica);
      };
      const probe = () => {
        for (const replica of replicas) void ask(replica);
      };
      probing = setInterval(probe, probeMs);
      probe();
    },
    async seen(count) {
      while (ready.size !== count) await new Promise((done) => setTimeout(done, probeMs));
    },
    async stop() {
      clearInterval(probing);
      agent.destroy();
      const closed = new Promise<void>((done) => server.close(() => done()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Whether a replica wants requests. */
export async function isReady(replica: RoutedReplica): Promise<boolean> {
  return (await askWhetherReady(replica)) === 'yes';
}

async function askWhetherReady({ internalPort }: RoutedReplica): Promise<'yes' | 'no' | 'nothing'> {
  const signal = AbortSignal.timeout(probePatienceMs);
  try {
    return (await fetch(`http://127.0.0.1:${internalPort}/readyz`, { signal })).status === 200 ? 'yes' : 'no';
  } catch {
    return signal.aborted ? 'nothing' : 'no';
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= mostBytes) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  body: Buffer;
}

/**
 * @returns `unknown` if nobody can tell whether the replica has done what was asked: then it must not be
 * asked of another one.
 */
function forward(
  agent: Agent,
  { port }: RoutedReplica,
  { request, response, body }: Exchange,
): Promise<'answered' | 'never sent' | 'unknown'> {
  return new Promise((done) => {
    const { method, url: path } = request;
    const { connection: _, ...given } = request.headers;
    const headers = { ...given, 'x-forwarded-for': '127.0.0.1' };
    const sent = sendRequest({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
      const { connection: _hop, 'keep-alive': _kept, ...rest } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, rest);
      answer.pipe(response);
      answer.once('end', () => done('answered'));
      answer.once('error', () => {
        response.destroy();
        done('answered');
      });
    });
    sent.once('error', (error: NodeJS.ErrnoException) =>
      done(neverSent.has(error.code ?? '') ? 'never sent' : 'unknown'),
    );
    // Who has gone away waits for nothing.
    response.once('close', () => response.writableFinished || sent.destroy());
    sent.end(body);
  });
}
