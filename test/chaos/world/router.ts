import {
  Agent,
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** One replica of a service, as the router sees it. */
export interface Backend {
  /** The public port. */
  port: number;
  internalPort: number;
}

/** What stands in front of replicas: knows prefixes, and asks each replica whether it is ready. */
export interface Router {
  port: number;
  /** Until it is called nothing is there. @param routes replicas by path prefix. */
  serve(routes: Readonly<Record<string, readonly Backend[]>>): void;
  stop(): Promise<void>;
}

const probeMs = 200;
const probePatienceMs = 1_000;
/** One that says nothing for so long gets no more requests: on a busy machine a probe may be late. */
const silenceMs = 3_000;
/** Nothing was sent to a replica that did not take the connection. */
const neverSent = new Set(['ECONNREFUSED']);

/** A plain prefix router, as an Ingress is: longest prefix first, round robin over replicas whose /readyz says 200. */
export async function startRouter(): Promise<Router> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  const ready = new Set<Backend>();
  let prefixes: (readonly [string, readonly Backend[]])[] = [];
  let turn = 0;

  function choose(path: string): Backend[] {
    const found = prefixes.find(
      ([prefix]) => prefix === '/' || path === prefix || path.startsWith(`${prefix}/`),
    );
    const able = (found?.[1] ?? []).filter((backend) => ready.has(backend));
    turn += 1;
    return able.map((_, index) => able[(turn + index) % able.length] as Backend);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    for (const backend of choose((request.url ?? '/').split('?', 1)[0] as string)) {
      const outcome = await forward(agent, backend, { request, response, body });
      if (outcome === 'answered') return;
      ready.delete(backend);
      if (outcome === 'unknown') break;
    }
    response.writeHead(response.headersSent ? 200 : 502).end();
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  let probing: NodeJS.Timeout | undefined;
  return {
    port: (server.address() as AddressInfo).port,
    serve(routes) {
      prefixes = Object.entries(routes).sort(([a], [b]) => b.length - a.length);
      const backends = new Set(Object.values(routes).flat());
      const heardAt = new Map<Backend, number>();
      const ask = async (backend: Backend) => {
        const said = await askWhetherReady(backend);
        if (said !== 'nothing') heardAt.set(backend, performance.now());
        if (said === 'yes') ready.add(backend);
        else if (said === 'no' || performance.now() - (heardAt.get(backend) ?? 0) > silenceMs)
          ready.delete(backend);
      };
      const probe = () => {
        for (const backend of backends) void ask(backend);
      };
      probing = setInterval(probe, probeMs);
      probe();
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
export async function isReady(backend: Backend): Promise<boolean> {
  return (await askWhetherReady(backend)) === 'yes';
}

async function askWhetherReady({ internalPort }: Backend): Promise<'yes' | 'no' | 'nothing'> {
  const signal = AbortSignal.timeout(probePatienceMs);
  try {
    return (await fetch(`http://127.0.0.1:${internalPort}/readyz`, { signal })).status === 200 ? 'yes' : 'no';
  } catch {
    return signal.aborted ? 'nothing' : 'no';
  }
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  body: Buffer;
}

/** @returns `unknown` if nobody can tell whether the replica has done what was asked: then it must not be asked of another one. */
function forward(
  agent: Agent,
  { port }: Backend,
  { request, response, body }: Exchange,
): Promise<'answered' | 'never sent' | 'unknown'> {
  return new Promise((done) => {
    const { method, url: path, headers } = request;
    const sent = sendRequest({ host: '127.0.0.1', port, method, path, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
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
