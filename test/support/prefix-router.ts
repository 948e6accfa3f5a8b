import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A replica as the router sees it. */
export interface RoutedReplica {
  /** Its public address. */
  url: string;
  /** Where its `/readyz` is. */
  internalUrl: string;
}

/** A plain prefix router such as an Ingress is: longest prefix first, replicas in turn, those that are not ready left out. */
export interface PrefixRouter {
  url: string;
  /** Waits until the router sends requests to so many replicas. */
  seen(count: number): Promise<void>;
  close(): Promise<void>;
}

const probeEveryMs = 100;
const probeTimeoutMs = 1_000;
/** More than any body may have (decisions.md §10). */
const mostBytes = 4 * 2 ** 20;

/** @param routes replicas by path prefix. */
export async function startPrefixRouter(
  routes: Readonly<Record<string, readonly RoutedReplica[]>>,
): Promise<PrefixRouter> {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });
  const replicas = [...new Set(Object.values(routes).flat())];
  const ready = new Set<RoutedReplica>();
  const prefixes = Object.keys(routes).sort((a, b) => b.length - a.length);
  let turn = 0;

  async function probe(replica: RoutedReplica): Promise<void> {
    const signal = AbortSignal.timeout(probeTimeoutMs);
    const answered = await fetch(`${replica.internalUrl}/readyz`, { signal }).catch(() => undefined);
    if (answered?.ok) ready.add(replica);
    else ready.delete(replica);
    await answered?.arrayBuffer().catch(() => {});
  }

  function candidates(path: string): RoutedReplica[] {
    const prefix = prefixes.find((each) => each === '/' || path === each || path.startsWith(`${each}/`));
    const all = prefix === undefined ? [] : (routes[prefix] ?? []);
    const good = all.filter((replica) => ready.has(replica));
    const chosen = good.length > 0 ? good : all;
    turn += 1;
    return chosen.map((_, index) => chosen[(turn + index) % chosen.length] as RoutedReplica);
  }

  async function route(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(incoming);
    let last: unknown = 'nobody serves it';
    for (const replica of candidates((incoming.url ?? '/').split('?', 1)[0] as string)) {
      try {
        return await forward(replica, { incoming, response, body, agent });
      } catch (error) {
        last = error;
        if (!maySendAgain(incoming.method, error)) break;
      }
    }
    response.writeHead(502, { 'Content-Type': 'text/plain' }).end(`no replica: ${String(last)}`);
  }

  const server = createServer((incoming, response) => {
    route(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const timer = setInterval(() => replicas.forEach((replica) => void probe(replica)), probeEveryMs);
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    async seen(count) {
      while (ready.size !== count) await new Promise((done) => setTimeout(done, probeEveryMs));
    },
    async close() {
      clearInterval(timer);
      agent.destroy();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

interface Exchange {
  incoming: IncomingMessage;
  response: ServerResponse;
  body: Buffer;
  agent: Agent;
}

/** Rejects as long as nothing of an answer has come. */
function forward(replica: RoutedReplica, { incoming, response, body, agent }: Exchange): Promise<void> {
  return new Promise((done, reject) => {
    const { connection: _, ...headers } = incoming.headers;
    const upstream = request(
      new URL(incoming.url ?? '/', replica.url),
      { method: incoming.method, agent, headers: { ...headers, 'x-forwarded-for': '127.0.0.1' } },
      (answer) => {
        const { connection: _hop, 'keep-alive': _kept, ...rest } = answer.headers;
        response.writeHead(answer.statusCode ?? 502, rest);
        answer.pipe(response);
        answer.once('error', () => response.destroy());
        done();
      },
    );
    upstream.once('error', reject);
    upstream.end(body);
  });
}

/** A request that was not sent, or that changes nothing, may go to another replica; no other may (RFC 9110 §9.2.2). */
function maySendAgain(method: string | undefined, error: unknown): boolean {
  return method === 'GET' || method === 'HEAD' || (error as { code?: string }).code === 'ECONNREFUSED';
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= mostBytes) chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
