import { setTimeout as wait } from 'node:timers/promises';
import { loadSecrets } from '#lib/config/secrets.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { signPeerRequest } from '../services/peers/domain/peer-token.ts';

// A peer that sends requests without end, until its parent disconnects; each is signed as it should be.

/** Who floods whom. */
export interface Flood {
  /** On this machine. */
  port: number;
  /** Base URLs of the instance that the requests are for, and of the peer. */
  audience: string;
  peer: string;
  /** The folder of the peer's secrets. */
  secrets: string;
}

const perSecond = 200;
const atOnce = 32;
const tellMs = 100;

const { port, audience, peer, secrets } = JSON.parse(process.argv[2] as string) as Flood;
const { instanceSigning } = await loadSecrets({
  folder: secrets,
  names: ['instanceSigning'],
  generate: false,
});
const key = instanceSigning[0] as (typeof instanceSigning)[0];
const counts = { sent: 0, refused: 0 };
let ended = false;
const telling = setInterval(() => process.send?.(counts), tellMs);
process.once('disconnect', () => {
  ended = true;
  clearInterval(telling);
});

/** A question about the catalogue, an announcement, and a part that cannot be opened, in turn. */
async function send(): Promise<void> {
  const [method, path, content] = [
    ['GET', '/federation/models', undefined],
    ['POST', '/federation/ping', undefined],
    ['PUT', `/federation/submissions/${randomId()}`, sealedNonsense()],
  ][counts.sent % 3] as [string, string, object | undefined];
  counts.sent += 1;
  const body = content === undefined ? '' : JSON.stringify(content);
  const token = await signPeerRequest(
    { method, url: `${audience}${path}`, body: Buffer.from(body) },
    {
      issuer: peer,
      audience,
      key,
    },
  );
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { Authorization: `Peer ${token}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    ...(body ? { body } : {}),
  });
  if (response.status === 429 || response.status === 503) counts.refused += 1;
  await response.arrayBuffer();
}

function sealedNonsense(): object {
  return {
    leader: { location: peer, id: randomId() },
    subject: 'flood',
    language: 'en',
    validity: 'P6M',
    mode: 'commit',
    sealed: 'a..b.c.d',
  };
}

const started = performance.now();
let begun = 0;
async function walk(): Promise<void> {
  while (!ended) {
    const due = started + (begun / perSecond) * 1000;
    begun += 1;
    await wait(Math.max(0, due - performance.now()));
    if (!ended) await send().catch(() => {});
  }
}
await Promise.all(Array.from({ length: atOnce }, walk));
