import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '../random.ts';
import { type Behaviour, behaviours, type Manner } from './manners.ts';

/** Stands before an instance, at the address under which its partners know it, and does what networks, routers and partners do. */
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
