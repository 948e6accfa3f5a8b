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

/** Sends the beginning of a request, then one byte a second. @returns what came back, and after how long it was over. */
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

it('ends requests that come in so slowly that they only hold a connection', async () => {
  const [headers, body] = await Promise.all([
    trickle('GET / HTTP/1.1\r\nHost: a\r\nX-Slow: '),
    trickle('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n'),
  ]);
  expect(headers.answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(headers.seconds).toBeLessThan(8);
  expect(body.answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(body.seconds).toBeLessThan(13);
});

it('takes headers of 8 KiB and no more', async () => {
  const url = `http://127.0.0.1:${listener.port}/`;
  expect((await fetch(url, { headers: { 'X-Long': 'x'.repeat(7_000) } })).status).toBe(200);
  expect((await fetch(url, { headers: { 'X-Long': 'x'.repeat(9_000) } })).status).toBe(431);
});

it.each([
  ['5 s, unless it is told otherwise', undefined, 5],
  ['longer than a proxy keeps it, where it is told so', 75_000, 75],
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
  // What the client is told is no more than what holds; the bound of a connection that is in use is another one.
  const [{ timeout = 0 }] = await opened;
  expect(timeout / 1000).toBeGreaterThanOrEqual(seconds);
  expect(timeout / 1000).toBeLessThanOrEqual(seconds + 1);
});

describe('a server that is asked to close', () => {
  /** A server whose replies wait until they are let go. */
  async function startHolding() {
    const held: ServerResponse[] = [];
    const holding = await listen((_request, response) => void held.push(response), {
      host: '127.0.0.1',
      port: 0,
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = () =>
      new Promise<IncomingMessage>((done, reject) => {
        get({ port: holding.port, host: '127.0.0.1', agent }, (response) =>
          response.resume().on('end', () => done(response)),
        ).on('error', reject);
      });
    return {
      holding,
      ask,
      arrived: () => vi.waitUntil(() => held.length > 0, patience),
      letGo: () => held.pop()?.end('done'),
    };
  }

  it('lets a request under way finish, and its client send one more on the same connection', async () => {
    const { holding, ask, arrived, letGo } = await startHolding();
    const answers = [ask(), ask()];
    await arrived();
    const closed = holding.close(10_000);
    letGo();
    await arrived();
    letGo();
    const [first, second] = await Promise.all(answers);
    expect(first?.headers.connection).toBe('keep-alive');
    expect(second?.headers.connection).toBe('close');
    await closed;
    await expect(ask()).rejects.toThrow('ECONNREFUSED');
  });
});
