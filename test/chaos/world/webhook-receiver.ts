import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { ReceivedCall } from '../check/evidence.ts';
import type { Random } from '../random.ts';

/** How somebody else's endpoint answers. */
export type Manner = 'well' | 'slowly' | 'wrongly' | 'not at all';

/** The endpoint of a webhook, which remembers every call. */
export interface WebhookReceiver {
  url: string;
  calls: readonly ReceivedCall[];
  /** From now on signatures are verified with it. */
  expect(secret: string): void;
  /** Ids of events whose signature was not good. */
  forged(): readonly string[];
  behave(manner: Manner): Promise<void>;
  stop(): Promise<void>;
}

const slowMs = 3_000;
/**
 * Nothing of this may be taken for done: an error, a refusal, a redirection, no such page, a broken answer.
 */
const wrongAnswers = [500, 503, 400, 302, 404, 'broken'] as const;

export async function startWebhookReceiver(random: Random): Promise<WebhookReceiver> {
  const calls: ReceivedCall[] = [];
  const forged: string[] = [];
  let manner: Manner = 'well';
  let verifier: Webhook | undefined;

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const event = JSON.parse(body);
    if (verifier && !isGood(verifier, body, request.headers)) forged.push(event.id);
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
    expect(secret) {
      verifier = new Webhook(secret);
    },
    forged: () => forged,
    async behave(next) {
      if (next === 'not at all' && manner !== next) await close(server);
      if (next !== 'not at all' && manner === 'not at all') server = await listen(port, take);
      manner = next;
    },
    stop: () => (manner === 'not at all' ? Promise.resolve() : close(server)),
  };
}

/** By the reference library: signature, and a time that is not five minutes off. */
function isGood(verifier: Webhook, body: string, headers: IncomingHttpHeaders): boolean {
  try {
    verifier.verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
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
