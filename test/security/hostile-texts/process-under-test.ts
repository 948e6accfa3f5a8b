import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { contractFetch } from '../../support/contract/contract.ts';
import type { TestInstance } from '../../support/instances/instance.ts';
import { startStandalone } from '../../support/instances/standalone-process.ts';
import { createTestDatabase } from '../../support/stores/postgres.ts';

/** Accord in a process of its own, whose event loop is watched. */
export interface WatchedProcess {
  /** What the helpers of other tests need of an instance. */
  instance: TestInstance;
  /** The most CPU time that one turn of its event loop took since it was asked last, in ms. */
  longestTurn(): Promise<number>;
  /** The CPU time of its main thread since it was asked last, in ms: of its longest turn, and of all. */
  spent(): Promise<Spent>;
  /** The longest that an answer of `/livez` took, in ms, and statuses that were not 200. */
  livez(): { longest: number; refused: number[] };
  stop(): Promise<void>;
}

export interface Spent {
  longest: number;
  total: number;
}

/** @param settings that differ. */
export async function startWatchedProcess(settings: Record<string, string> = {}): Promise<WatchedProcess> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-watched-'));
  const database = await createTestDatabase();
  const socket = path.join(folder, 'probe.sock');
  const accord = startStandalone({
    DATABASE_URL: database.url,
    DATA_DIR: path.join(folder, 'data'),
    LOG_LEVEL: 'error',
    LOOP_PROBE: socket,
    NODE_OPTIONS: `--import ${path.join(import.meta.dirname, 'loop-probe.ts')}`,
    ...settings,
  });
  const url = await accord.ready;
  const poll = pollLivez(url);
  return {
    instance: { url, fetch: contractFetch(url) } as TestInstance,
    longestTurn: async () => (await ask(socket)).longest,
    spent: () => ask(socket),
    livez: poll.seen,
    async stop() {
      await poll.stop();
      await accord.stop();
      await database.drop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function ask(socketPath: string): Promise<Spent> {
  return new Promise((resolve, reject) => {
    request({ socketPath, path: '/' }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(JSON.parse(text) as Spent));
    })
      .on('error', reject)
      .end();
  });
}

/** Asks again and again, one request at a time. */
function pollLivez(url: string) {
  let longest = 0;
  let stopped = false;
  const refused: number[] = [];
  const done = (async () => {
    while (!stopped) {
      const start = performance.now();
      // An idle connection may end just when it is used again, if this process was held up for seconds.
      const probe = () => fetch(`${url}/livez`);
      const { status } = await probe()
        .catch(probe)
        .catch(() => ({ status: 0 }));
      longest = Math.max(longest, performance.now() - start);
      if (status !== 200) refused.push(status);
      await new Promise((next) => setTimeout(next, 100));
    }
  })();
  return {
    seen: () => ({ longest, refused }),
    async stop() {
      stopped = true;
      await done;
    },
  };
}
