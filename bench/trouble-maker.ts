import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { Flood } from './flooding-peer.ts';
import type { Organisation } from './peers-world.ts';

/**
 * What a peer can do to others. `none`: forms do not ask for it. `elsewhere`: it floods somebody who has
 * nothing to do with the leader, but shares the machine.
 */
export const troubles = ['none', 'slow', 'failing', 'refusing', 'elsewhere', 'flooding'] as const;
export type Trouble = (typeof troubles)[number];

/** A peer in trouble, or one that makes it. */
export interface TroubleMaker {
  /**
   * Requests for parts that were under way to it at the same moment, at most; what it has sent itself, and
   * what the leader said to that.
   */
  seen(): { most: number; sent: number; refused: number };
  stop(): Promise<void>;
}

const slowMs = 30_000;

const answers: Record<Trouble, (response: ServerResponse) => Promise<unknown> | unknown> = {
  none: (response) => response.writeHead(503).end(),
  async slow(response) {
    await wait(slowMs, undefined, { ref: false });
    response.writeHead(503).end();
  },
  failing: (response) => response.writeHead(500).end(),
  refusing: (response) => response.writeHead(403).end(),
  elsewhere: (response) => response.writeHead(503).end(),
  flooding: (response) => response.writeHead(503).end(),
};

/**
 * Answers at a peer's address, and if need be floods the leader in its name. @param secrets folder of the
 * peer.
 */
export async function startTrouble(
  trouble: Trouble,
  { leader, ill, secrets }: { leader: Organisation; ill: Organisation; secrets: string },
): Promise<TroubleMaker> {
  let underWay = 0;
  let most = 0;
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/federation/submissions/')) {
      underWay += 1;
      most = Math.max(most, underWay);
      response.once('close', () => {
        underWay -= 1;
      });
    }
    request.resume();
    void answers[trouble](response);
  });
  await new Promise<void>((ready) => server.listen(ill.port, '127.0.0.1', ready));
  const sink = trouble === 'elsewhere' ? await startSink() : undefined;
  const port = trouble === 'flooding' ? leader.port : sink?.port;
  const flood = port && (await startFlood({ port, audience: leader.url, peer: ill.url, secrets }));
  return {
    seen: () => ({ most, ...(flood ? flood.told() : { sent: 0, refused: 0 }) }),
    async stop() {
      if (flood) await flood.stop();
      await sink?.stop();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function startFlood(flood: Flood) {
  const child = fork(new URL('flooding-peer.ts', import.meta.url), [JSON.stringify(flood)], { execArgv: [] });
  const ended = once(child, 'exit');
  let told = { sent: 0, refused: 0 };
  child.on('message', (counts: typeof told) => {
    told = counts;
  });
  return {
    told: () => told,
    async stop() {
      child.disconnect();
      await ended;
    },
  };
}

/**
 * Takes all requests and does nothing: whoever floods it takes as much of the machine, and nothing of the
 * leader.
 */
async function startSink(): Promise<{ port: number; stop(): Promise<unknown> }> {
  const sink = createServer((request, response) => {
    request.resume();
    response.writeHead(204).end();
  });
  await new Promise<void>((ready) => sink.listen(0, '127.0.0.1', ready));
  return {
    port: (sink.address() as AddressInfo).port,
    async stop() {
      sink.closeAllConnections();
      await new Promise((closed) => sink.close(closed));
    },
  };
}
