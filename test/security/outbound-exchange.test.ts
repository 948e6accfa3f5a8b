import { once } from 'node:events';
import { Agent, type RequestListener, type ServerResponse } from 'node:http';
import { Agent as SecureAgent } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { exchange } from '#lib/outbound/exchange.ts';
import { startLoopbackServer } from '../support/network/loopback-server.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** Long enough for a machine that is busy. */
const connectMs = 200;

const certificate = selfSignedCertificate(['localhost']);
const means = { connectMs, maxBytes: 1_000, signal: new AbortController().signal };
const request = { method: 'POST', url: '', headers: {} } as const;
const targetOf = (port: number) => ({ secure: false, hostname: '127.0.0.1', port: String(port), path: '/' });

/** Exchanges over one connection: the second request waits for that of the first. */
function overOne(secure: boolean) {
  const one = { keepAlive: true, maxSockets: 1, servername: 'localhost' };
  const agent = secure ? new SecureAgent({ ...one, ca: certificate.cert }) : new Agent(one);
  opened.push(() => agent.destroy());
  return async (port: number) =>
    (await exchange({ ...targetOf(port), secure }, request, { ...means, agent })).status;
}

/** Waits for as long as a connection may take to come about: whom this one goes to never speaks TLS. */
async function timeOfAConnection(): Promise<void> {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  opened.push(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const agent = new SecureAgent();
  const tried = exchange({ ...targetOf(port), secure: true }, request, { ...means, agent });
  await expect(tried).rejects.toMatchObject({ reason: 'timeout' });
}

describe.each([
  ['a plain', false],
  ['a secure', true],
])('a request that has waited for %s connection of another one', (_kind, secure) => {
  const started = async (answer: RequestListener) => {
    const server = await startLoopbackServer(answer, secure ? { certificate } : {});
    opened.push(server.close);
    return server;
  };
  it('has all its time for the answer, not only that for making a connection', async () => {
    const held: ServerResponse[] = [];
    const server = await started((_request, response) => held.push(response));
    const ask = overOne(secure);
    const outcomes = Promise.all([ask(server.port), ask(server.port)]);
    for (const asked of [1, 2]) {
      await vi.waitFor(() => expect(server.requests()).toBe(asked), { interval: 2 });
      if (asked === 2) await timeOfAConnection();
      held[asked - 1]?.end();
    }
    expect(await outcomes).toEqual([200, 200]);
    expect(server.connections()).toBe(1);
  });

  it('leaves nothing behind on it, however many there are', async () => {
    const server = await started((_request, response) => response.end());
    const warned = vi.fn();
    process.on('warning', warned);
    opened.push(() => process.off('warning', warned));
    const ask = overOne(secure);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => ask(server.port)));
    expect(outcomes).toEqual(Array(20).fill(200));
    expect(server.connections()).toBe(1);
    expect(warned).not.toHaveBeenCalled();
  });
});
