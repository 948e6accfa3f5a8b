import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '../random.ts';

/**
 * Stands before an instance, at the address under which its partners know it, and does what networks, routers
 * and partners do.
 */
export interface OwnerProxy {
  /** BASE_URL of the instance behind it. */
  url: string;
  /** Treats all that is on its way, and all that comes, in this manner. */
  behave(manner: Manner): void;
  /** How many requests have been treated in a manner until now. */
  treated(manner: Manner): number;
  close(): Promise<void>;
}

/** What came back from the instance. */
export interface Reply {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

/** A request that is on its way. */
export interface Passing {
  method: string;
  path: string;
  body: Buffer;
  /** Carries it to the instance, however often. @throws Error if there was no reply. */
  forward(): Promise<Reply>;
}

/** Listens on a free loopback port. @param target port of the instance. */
export async function startOwnerProxy({
  target,
  random,
}: {
  target: number;
  random: Random;
}): Promise<OwnerProxy> {
  const agent = new http.Agent({ keepAlive: true });
  const counts = new Map<Manner, number>();
  const treat = behaviours(random);
  let manner: Manner = 'well';
  let behaviour: Behaviour = treat.well;
  let end = () => {};
  let ended = new Promise<void>((done) => {
    end = done;
  });

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const present = behaviour;
    const over = ended;
    const body = await readAll(request);
    counts.set(manner, (counts.get(manner) ?? 0) + 1);
    const { method = 'GET', url: path = '/', headers } = request;
    const forward = () => send({ agent, port: target, method, path, headers, body });
    const reply = await present({ method, path, body, forward }, over);
    // Nothing at all: the connection breaks.
    if (!reply) return void response.destroy();
    const { 'transfer-encoding': _, connection: __, ...kept } = reply.headers;
    response.writeHead(reply.status, { ...kept, 'content-length': reply.body.length }).end(reply.body);
  }

  const server = http.createServer((request, response) => {
    response.on('error', () => {}); // Whoever asked has gone.
    pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    behave(next) {
      manner = next;
      behaviour = treat[next];
      end();
      ended = new Promise((done) => {
        end = done;
      });
    },
    treated: (which) => counts.get(which) ?? 0,
    async close() {
      end();
      agent.destroy();
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}

interface Request {
  agent: http.Agent;
  port: number;
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
}

function send({ agent, port, method, path, headers, body }: Request): Promise<Reply> {
  return new Promise((done, failed) => {
    const request = http.request({ agent, host: '127.0.0.1', port, method, path, headers });
    request.once('error', failed);
    request.once('response', (response) => {
      readAll(response).then(
        (whole) => done({ status: response.statusCode ?? 0, headers: response.headers, body: whole }),
        failed,
      );
    });
    request.end(body);
  });
}

async function readAll(stream: IncomingMessage): Promise<Buffer> {
  return Buffer.concat((await stream.toArray()) as Buffer[]);
}

/** How requests to the owner of a part are treated. */
export type Manner =
  | 'well'
  /** Connections break before anything arrives. */
  | 'down'
  /** Everything arrives at once, and nothing comes back before the manner changes. */
  | 'slow'
  | 'unavailable'
  | 'forbidden'
  /** 200, and nothing that a partner has signed. */
  | 'garbage'
  /** The owner has done its work, and the connection breaks instead of its reply. */
  | 'reply lost'
  /** Everything arrives twice at the same time, and either of the answers comes back. */
  | 'twice'
  /**
   * What the owner has signed for another request of the same kind comes back, and the owner hears nothing:
   * always for decisions, else at times.
   */
  | 'mixed up';

/** @param over resolves when the manner changes. @returns undefined if the connection breaks. */
export type Behaviour = (request: Passing, over: Promise<void>) => Promise<Reply | undefined>;

function behaviours(random: Random): Record<Manner, Behaviour> {
  const formerReplies = new Map<string, { path: string; reply: Reply }>();
  const well: Behaviour = async (request) => {
    const reply = await request.forward();
    if (reply.status === 200) formerReplies.set(kindOf(request), { path: request.path, reply });
    return reply;
  };
  return {
    well,
    down: async () => undefined,
    async slow(request, over) {
      const reply = await request.forward();
      await over;
      return reply;
    },
    unavailable: async () => problem(503),
    forbidden: async () => problem(403),
    garbage: async () =>
      answer(200, random.pick(['', '{', '<html>', '{"receipt":"x.y.z"}', '{"receipt":7}'])),
    async 'reply lost'(request) {
      await request.forward();
      return undefined;
    },
    async twice({ forward }) {
      const replies = await Promise.all([forward(), forward()]);
      return random.pick(replies);
    },
    async 'mixed up'(request, over) {
      const former = formerReplies.get(kindOf(request));
      const isMixedUp =
        former && former.path !== request.path && (request.method === 'POST' || random.between(1, 4) === 1);
      return isMixedUp ? former.reply : well(request, over);
    },
  };
}

/** Requests for the same, but for what they are about; decisions have the same bytes then. */
function kindOf({ method, path, body }: Passing): string {
  const what = path.replace(/\/[\w-]{22}(?=\/|$)/, '/…');
  return `${method} ${what} ${method === 'POST' ? body : ''}`;
}

function answer(status: number, text: string): Reply {
  return { status, headers: { 'content-type': 'application/json' }, body: Buffer.from(text) };
}

function problem(status: number): Reply {
  const text = JSON.stringify({ type: 'about:blank', title: 'Not today', status });
  return { ...answer(status, text), headers: { 'content-type': 'application/problem+json' } };
}
