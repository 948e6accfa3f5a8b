import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Listener, listen } from '#lib/http/listen.ts';
import { patience } from '../support/run/patience.ts';

let listener: Listener;
beforeAll(async () => {
  listener = await listen(
    (request, response) => void request.on('end', () => response.end('done')).resume(),
    {
      host: '127.0.0.1',
      port: 0,
    },
  );
});
afterAll(() => listener.close(0));

/**
 * Sends the beginning of a request, then one byte per second. @returns the response, and the seconds until
 * the connection ended.
 */
async function trickle(beginning: string): Promise<{ answer: string; seconds: number }> {
  const started = performance.now();
  const socket: Socket = connect(listener.port, '127.0.0.1');
  socket.write(beginning);
  const timer = setInterval(() => socket.write('x'), 1_000);
  let answer = '';
  for await (const chunk of socket.on('error', () => {})) answer += chunk;
  clearInterval(timer);
  return { answer, seconds: (performance.now() - started) / 1000 };
}

it('ends requests that arrive too slowly', async () => {
  const { server } = listener;
  expect(server).toMatchObject({ headersTimeout: 20_000, requestTimeout: 30_000 });
  Object.assign(server, { headersTimeout: 1_000, requestTimeout: 3_000 });
  onTestFinished(() => void Object.assign(server, { headersTimeout: 20_000, requestTimeout: 30_000 }));
  const [headers, body] = await Promise.all([
    trickle('GET / HTTP/1.1\r\nHost: a\r\nX-Slow: '),
    trickle('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n'),
  ]);
  expect(headers.answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(headers.seconds).toBeLessThan(4);
  expect(body.answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(body.seconds).toBeGreaterThan(2);
});

it('accepts headers of at most 8 KiB', async () => {
  const url = `http://127.0.0.1:${listener.port}/`;
  expect((await fetch(url, { headers: { 'X-Long': 'x'.repeat(7_000) } })).status).toBe(200);
  expect((await fetch(url, { headers: { 'X-Long': 'x'.repeat(9_000) } })).status).toBe(431);
});

it.each([
  ['5 s by default', undefined, 5],
  ['as long as configured', 75_000, 75],
])('keeps an idle connection for %s', async (_name, keepAliveMs, seconds) => {
  const address = { host: '127.0.0.1', port: 0 };
  const kept = await listen((_request, response) => void response.end('done'), {
    ...address,
    ...(keepAliveMs !== undefined && { keepAliveMs }),
  });
  onTestFinished(() => kept.close(0));
  const opened = once(kept.server, 'connection') as Promise<[Socket]>;
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const response = await new Promise<IncomingMessage>((done, reject) =>
    get({ port: kept.port, host: address.host, agent }, (answer) =>
      answer.resume().once('end', () => done(answer)),
    ).once('error', reject),
  );
  expect(response.headers['keep-alive']).toBe(`timeout=${seconds}`);
  // The header must not promise more than the socket's own time-out.
  const [{ timeout = 0 }] = await opened;
  expect(timeout / 1000).toBeGreaterThanOrEqual(seconds);
  expect(timeout / 1000).toBeLessThanOrEqual(seconds + 1);
});

describe('a server that is closing', () => {
  /** Starts a server whose responses wait for `release`. */
  async function startServer() {
    const held: ServerResponse[] = [];
    const server = await listen((_request, response) => void held.push(response), {
      host: '127.0.0.1',
      port: 0,
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = () =>
      new Promise<IncomingMessage>((done, reject) => {
        get({ port: server.port, host: '127.0.0.1', agent }, (response) =>
          response.resume().on('end', () => done(response)),
        ).on('error', reject);
      });
    return {
      server,
      ask,
      arrived: () => vi.waitUntil(() => held.length > 0, patience),
      release: () => held.pop()?.end('done'),
    };
  }

  it('finishes the request in progress and one more on the same connection', async () => {
    const { server, ask, arrived, release } = await startServer();
    const answers = [ask(), ask()];
    await arrived();
    const closed = server.close(10_000);
    release();
    await arrived();
    release();
    const [first, second] = await Promise.all(answers);
    expect(first?.headers.connection).toBe('keep-alive');
    expect(second?.headers.connection).toBe('close');
    await closed;
    await expect(ask()).rejects.toThrow('ECONNREFUSED');
  });
});
