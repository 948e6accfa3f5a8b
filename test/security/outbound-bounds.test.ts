import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { startLoopbackServer } from '../support/network/loopback-server.ts';
import { ask } from './outbound/ask.ts';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

function clientOf(limits: { perHost: number; total: number }) {
  const client = createOutboundClient({
    allowedNetworks: ['127.0.0.0/8'],
    resolve: async () => ['127.0.0.1'],
    limits,
  });
  opened.push(client.stop);
  return client;
}

/** A server that answers when the test says so, and knows how many connections to it are open. */
async function serve() {
  const held: ServerResponse[] = [];
  let open = 0;
  let most = 0;
  const known = new Set();
  const server = await startLoopbackServer((request, response) => {
    held.push(response);
    if (known.has(request.socket)) return;
    known.add(request.socket);
    open += 1;
    most = Math.max(most, open);
    void once(request.socket, 'close').then(() => {
      open -= 1;
    });
  });
  opened.push(server.close);
  return {
    ...server,
    held,
    mostOpen: () => most,
    url: (host: string) => `http://${host}.example:${server.port}/`,
    release: () => held.splice(0).map((response) => response.end()),
  };
}

describe('requests at the same time', () => {
  it('are limited per host; further ones wait for a connection', async () => {
    const server = await serve();
    const client = clientOf({ perHost: 2, total: 10 });
    const outcomes = Promise.all(Array.from({ length: 6 }, () => ask(client, server.url('a'))));
    for (const done of [2, 4, 6]) {
      await vi.waitFor(() => expect(server.requests()).toBe(done), { interval: 2 });
      expect(server.held).toHaveLength(2);
      server.release();
    }
    expect(await outcomes).toEqual([200, 200, 200, 200, 200, 200]);
    expect(server.connections()).toBe(2);
  });

  it('are limited in total; a slow host does not block others', async () => {
    const server = await serve();
    const client = clientOf({ perHost: 2, total: 3 });
    const slow = Array.from({ length: 5 }, () => ask(client, server.url('slow')));
    const other = ['b', 'c'].map((host) => ask(client, server.url(host)));
    await vi.waitFor(() => expect(server.requests()).toBe(3), { interval: 2 });
    server.held.splice(2, 1)[0]?.end();
    expect(await other[0]).toBe(200);
    await vi.waitFor(() => expect(server.requests()).toBe(4), { interval: 2 });
    server.held.splice(2, 1)[0]?.end();
    expect(await other[1]).toBe(200);
    await vi.waitFor(
      () => {
        server.release();
        expect(server.requests()).toBe(7);
      },
      { interval: 2 },
    );
    server.release();
    expect(await Promise.all(slow)).toEqual([200, 200, 200, 200, 200]);
    expect(server.mostOpen()).toBeLessThanOrEqual(3);
  });

  it('that wait too long are abandoned without being sent', async () => {
    const server = await serve();
    const client = clientOf({ perHost: 1, total: 1 });
    const first = ask(client, server.url('a'));
    await vi.waitFor(() => expect(server.held).toHaveLength(1), { interval: 2 });
    expect(await ask(client, server.url('b'), { timeoutMs: 20 })).toBe('failed: timeout');
    server.release();
    expect(await first).toBe(200);
    expect(server.requests()).toBe(1);
  });
});

describe('connections', () => {
  it('are reused for the next request to the same host', async () => {
    const server = await serve();
    const client = clientOf({ perHost: 2, total: 4 });
    for (let count = 1; count <= 5; count += 1) {
      const outcome = ask(client, server.url('a'));
      await vi.waitFor(() => expect(server.held).toHaveLength(1), { interval: 2 });
      server.release();
      expect(await outcome).toBe(200);
    }
    expect(server.connections()).toBe(1);
  });

  it('never exceed the limit, however many hosts are called in turn', async () => {
    const server = await startLoopbackServer((_request, response) => response.end());
    opened.push(server.close);
    const client = clientOf({ perHost: 2, total: 3 });
    for (let count = 0; count < 20; count += 1)
      expect(await ask(client, `http://host-${count}.example:${server.port}/`)).toBe(200);
    await vi.waitFor(async () => expect(await server.open()).toBeLessThanOrEqual(3), { interval: 2 });
  });

  it('and requests end when the client stops; no new ones start', async () => {
    const server = await serve();
    const client = clientOf({ perHost: 1, total: 4 });
    const outcomes = [
      ask(client, server.url('a')),
      ask(client, server.url('a')),
      ask(client, server.url('b')),
    ];
    await vi.waitFor(() => expect(server.held).toHaveLength(2), { interval: 2 });
    await client.stop();
    expect(await Promise.all(outcomes)).toEqual(Array(3).fill('failed: closed'));
    expect(await ask(client, server.url('a'))).toBe('failed: closed');
    expect(server.requests()).toBe(2);
  });
});
