import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { signIn } from '../deploy/demo-peers/administrator.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { accordSettings, createKey } from './prepare-folder.ts';
import { fillIn, type Questions } from './run-flow.ts';
import type { BenchPostgres } from './start-postgres.ts';
import { type ServerProcess, startServer } from './start-server.ts';

/** An instance of an organisation, in a process and a database of its own. */
export interface Organisation {
  /** Its database, too. */
  name: string;
  /** BASE_URL. */
  url: string;
  /** That of its BASE_URL. */
  port: number;
  client: HttpClient;
  /** An API key of scope OWNER. */
  key: string;
  /** Keys of what it asks and shares: the same questions at every organisation. */
  questions: readonly string[];
  /** While it runs. */
  pid(): number;
  /** @param at the port to listen at, if something else stands in front. */
  start(at?: number): Promise<void>;
  stop(): Promise<void>;
}

const titles = ['Study of sleep', 'Study of meals', 'Interview', 'Letter to your doctor'];

/** Starts an organisation's instance and publishes its questions. @param more settings. */
export async function startOrganisation(
  { postgres, folder }: { postgres: BenchPostgres; folder: string },
  name: string,
  more: Record<string, string> = {},
): Promise<Organisation> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const environment = {
    ...accordSettings(path.join(folder, name)),
    DATABASE_URL: await postgres.createDatabase(name),
    BASE_URL: url,
    INSTANCE_NAME: name,
    STOP_DELAY: '0',
    ...more,
  };
  let server: ServerProcess | undefined;
  const start = async (at = port) => {
    server = await startServer('services/standalone.ts', { ...environment, PORT: String(at) });
  };
  const stop = async () => {
    await server?.stop();
    server = undefined;
  };
  await start();
  try {
    return {
      name,
      url,
      port,
      start,
      stop,
      client: createHttpClient({ port, connections: 64 }),
      key: await createKey(port),
      questions: await publishQuestions(url),
      pid: () => server?.pid ?? Number.NaN,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function publishQuestions(url: string): Promise<string[]> {
  const administrator = await signIn({ url });
  const keys: string[] = [];
  for (const title of titles) {
    const en = {
      title,
      data: 'How your stay was, your age and your ward',
      usage: 'We compare wards.',
      retention: { value: 5, unit: 'YEAR', fullText: 'Five years after the end of the study' },
      legalBases: ['LEGAL_BASIS_CONSENT'],
    };
    keys.push(
      await administrator.publish({ type: 'processing', name: title, data: { en } }, { shared: true }),
    );
  }
  return keys;
}

/** Pairs two, and waits until the first knows what the second asks. */
export async function pair(leader: Organisation, owner: Organisation): Promise<void> {
  const administrator = await signIn(leader);
  const key = await (await signIn(owner)).makePairingKey(leader.name);
  await administrator.pair(owner.url, key);
  await administrator.ask('first', {
    info: 'information.001',
    elements: owner.questions.map((question) => at(owner, question)),
  });
}

/** What the leader calls a question of its peer. */
export function at(owner: Organisation, question = ''): string {
  return `${question}@${new URL(owner.url).host}`;
}

/** A form with two questions of the leader's own. */
export function askOwn(leader: Organisation): Questions {
  return ask(leader.questions.slice(0, 2));
}

/** A form with one question of the leader's own and one of its peer's. */
export function askBoth(leader: Organisation, owner: Organisation): Questions {
  return ask([leader.questions[0] as string, at(owner, owner.questions[1])]);
}

function ask(elements: readonly string[]): Questions {
  return {
    layout: { layoutData: { info: 'information.001', elements } },
    filledIn: fillIn(
      Object.fromEntries(elements.map((element) => [`element/processing/${element}/1.0`, 'accepted'])),
    ),
  };
}

/** What stands before an instance and counts parts that are under way to it. */
export interface Watch {
  /** At the same moment, at most. */
  most(): number;
  stop(): Promise<void>;
}

const aboutPart = /^(PUT|POST) \/federation\/submissions\//;
const longestStart = 32;

/**
 * Passes what comes to the port of an instance's address on to where it listens. A connection has one request
 * at a time, which its first bytes name, and which is under way until the first byte of the answer.
 */
export async function watchParts({ port, target }: { port: number; target: number }): Promise<Watch> {
  let underWay = 0;
  let most = 0;
  const open = new Set<Socket>();
  const front = createServer((client) => {
    const server = connect(target, '127.0.0.1');
    let counted = 0;
    const count = (change: number) => {
      underWay += change - counted;
      counted = change;
      most = Math.max(most, underWay);
    };
    client.on('data', (chunk) => {
      if (counted === 0 && aboutPart.test(chunk.toString('latin1', 0, longestStart))) count(1);
    });
    server.on('data', () => count(0));
    // Nobody there yet: as if nothing stood before it.
    for (const [one, other] of [[client, server] as const, [server, client] as const]) {
      open.add(one);
      one.setNoDelay().on('error', () => {});
      one.pipe(other);
      one.once('close', () => {
        open.delete(one);
        other.destroy();
        count(0);
      });
    }
  });
  await new Promise<void>((ready) => front.listen(port, '127.0.0.1', ready));
  return {
    most: () => most,
    async stop() {
      const closed = new Promise((done) => front.close(done));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
