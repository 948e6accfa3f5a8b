import { randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { loadSecrets } from '#lib/config/secrets.ts';
import { randomId } from '#lib/ids/random-id.ts';
import { signPeerRequest } from '../services/peers/domain/peer-token.ts';
import type { Organisation } from './peers-world.ts';

/** What a peer can do to others. `none`: forms do not ask for it. */
export const troubles = ['none', 'slow', 'failing', 'refusing', 'flooding'] as const;
export type Trouble = (typeof troubles)[number];

/** A peer in trouble, or one that makes it. */
export interface TroubleMaker {
  /** Requests for parts that were under way to it at the same moment, at most; what it has sent itself, and what the leader said to that. */
  seen(): { most: number; sent: number; refused: number };
  stop(): Promise<void>;
}

const slowMs = 30_000;
/** Requests that a flooding peer sends in a second, each signed as it should be, by so many at once. */
const flood = { perSecond: 200, atOnce: 32 };

const answers: Record<Trouble, (response: ServerResponse) => Promise<unknown> | unknown> = {
  none: (response) => response.writeHead(503).end(),
  async slow(response) {
    await wait(slowMs, undefined, { ref: false });
    response.writeHead(503).end();
  },
  failing: (response) => response.writeHead(500).end(),
  refusing: (response) => response.writeHead(403).end(),
  flooding: (response) => response.writeHead(503).end(),
};

/** Answers at a peer's address, and if need be floods the leader in its name. @param secrets folder of the peer. */
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
  const flooding = trouble === 'flooding' ? await startFlood({ leader, ill, secrets }) : undefined;
  return {
    seen: () => ({ most, sent: flooding?.sent() ?? 0, refused: flooding?.refused() ?? 0 }),
    async stop() {
      await flooding?.stop();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

async function startFlood({
  leader,
  ill,
  secrets,
}: {
  leader: Organisation;
  ill: Organisation;
  secrets: string;
}) {
  const { instanceSigning } = await loadSecrets({
    ...{ folder: secrets, names: ['instanceSigning'], generate: false },
  });
  const key = instanceSigning[0] as (typeof instanceSigning)[0];
  let [sent, refused, ended] = [0, 0, false];
  /** A question about the catalogue, an announcement, and a part that cannot be opened, in turn. */
  const send = async () => {
    const [method, path, content] = [
      ['GET', '/federation/models', undefined],
      ['POST', '/federation/ping', undefined],
      ['PUT', `/federation/submissions/${randomId()}`, sealedNonsense(ill.url)],
    ][sent % 3] as [string, string, object | undefined];
    sent += 1;
    const body = content === undefined ? '' : JSON.stringify(content);
    const token = await signPeerRequest({
      request: { method, url: `${leader.url}${path}`, body: Buffer.from(body) },
      ...{ issuer: ill.url, audience: leader.url, key, id: randomUUID(), now: new Date() },
    });
    const response = await fetch(`${leader.url}${path}`, {
      method,
      headers: { Authorization: `Peer ${token}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
      ...(body ? { body } : {}),
    });
    if (response.status === 429 || response.status === 503) refused += 1;
    await response.arrayBuffer();
  };
  const started = performance.now();
  let begun = 0;
  const walk = async () => {
    while (!ended) {
      const due = started + (begun / flood.perSecond) * 1000;
      begun += 1;
      await wait(Math.max(0, due - performance.now()));
      await send().catch(() => {});
    }
  };
  const walks = Array.from({ length: flood.atOnce }, walk);
  return {
    sent: () => sent,
    refused: () => refused,
    async stop() {
      ended = true;
      await Promise.all(walks);
    },
  };
}

function sealedNonsense(location: string): object {
  return {
    leader: { location, id: randomId() },
    ...{ subject: 'flood', language: 'en', validity: 'P6M', mode: 'commit', sealed: 'a..b.c.d' },
  };
}
