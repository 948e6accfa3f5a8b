import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import type { ReceivedCall } from '../check/evidence.ts';
import type { Random } from '../random.ts';

/** How somebody else's endpoint answers. */
export type Manner = 'well' | 'slowly' | 'wrongly' | 'not at all';

/** The endpoint of a webhook, which remembers every call. */
export interface WebhookReceiver {
  url: string;
  calls: readonly ReceivedCall[];
  behave(manner: Manner): Promise<void>;
  stop(): Promise<void>;
}

const slowMs = 3_000;
/** Nothing of this may be taken for done: an error, a refusal, a redirection, no such page, a broken answer. */
const wrongAnswers = [500, 503, 400, 302, 404, 'broken'] as const;

export async function startWebhookReceiver(random: Random): Promise<WebhookReceiver> {
  const calls: ReceivedCall[] = [];
  let manner: Manner = 'well';

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const event = JSON.parse(await text(request));
    if (manner === 'slowly') await wait(slowMs);
    const answer = manner === 'wrongly' ? random.pick(wrongAnswers) : 200;
    const { transaction = '', version = 0, state = '' } = event.data;
    calls.push({
      delivery: String(request.headers['webhook-id']),
      event: { id: event.id, type: event.type, transaction, version, state },
      accepted: answer === 200,
    });
    if (answer === 'broken') return void request.socket.destroy();
    response.writeHead(answer, answer === 302 ? { Location: '/elsewhere' } : {}).end();
  }

  let server = await listen(0, take);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    calls,
    async behave(next) {
      if (next === 'not at all' && manner !== next) await close(server);
      if (next !== 'not at all' && manner === 'not at all') server = await listen(port, take);
      manner = next;
    },
    stop: () => (manner === 'not at all' ? Promise.resolve() : close(server)),
  };
}

async function listen(
  port: number,
  take: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
): Promise<Server> {
  // Who calls may hang up in the middle, and is taken for not having called.
  const server = createServer(
    (request, response) => void take(request, response).catch(() => response.destroy()),
  );
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return server;
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((done) => server.close(() => done()));
  server.closeAllConnections();
  await closed;
}
