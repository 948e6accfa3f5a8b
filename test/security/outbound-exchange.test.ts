import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { startLoopbackServer } from '../support/network/loopback-server.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** Long enough for a busy machine. */
const connectMs = 200;
const certificate = selfSignedCertificate(['localhost']);

/** Sends requests over one connection: the second waits for the first. */
function clientOfOneConnection(secure: boolean) {
  const client = createOutboundClient({
    allowedNetworks: ['127.0.0.0/8'],
    resolve: async () => ['127.0.0.1'],
    ca: certificate.cert,
    connectMs,
    limits: { perHost: 1, total: 1 },
  });
  opened.push(client.stop);
  const scheme = secure ? 'https' : 'http';
  return async (port: number) =>
    (await client.request({ method: 'POST', url: `${scheme}://localhost:${port}/`, headers: {} })).status;
}

/** Waits for the time-out of a connection to a server that never speaks TLS. */
async function waitForConnectTimeout(): Promise<void> {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  opened.push(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  await expect(clientOfOneConnection(true)(port)).rejects.toMatchObject({ reason: 'timeout' });
}

describe.each([
  ['a plain', false],
  ['a secure', true],
])('a request that waited for %s connection', (_kind, secure) => {
  const started = async (answer: RequestListener) => {
    const server = await startLoopbackServer(answer, secure ? { certificate } : {});
    opened.push(server.close);
    return server;
  };
  it('is not ended by the connect time-out', async () => {
    const held: ServerResponse[] = [];
    const server = await started((_request, response) => held.push(response));
    const ask = clientOfOneConnection(secure);
    const outcomes = Promise.all([ask(server.port), ask(server.port)]);
    for (const asked of [1, 2]) {
      await vi.waitFor(() => expect(server.requests()).toBe(asked), { interval: 2 });
      if (asked === 2) await waitForConnectTimeout();
      held[asked - 1]?.end();
    }
    expect(await outcomes).toEqual([200, 200]);
    expect(server.connections()).toBe(1);
  });

  it('leaves no listeners after any number of requests', async () => {
    const server = await started((_request, response) => response.end());
    const warned = vi.fn();
    process.on('warning', warned);
    opened.push(() => process.off('warning', warned));
    const ask = clientOfOneConnection(secure);
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => ask(server.port)));
    expect(outcomes).toEqual(Array(20).fill(200));
    expect(server.connections()).toBe(1);
    expect(warned).not.toHaveBeenCalled();
  });
});
