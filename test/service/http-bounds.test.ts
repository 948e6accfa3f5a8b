import { once } from 'node:events';
import { Agent, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Listener, listen } from '#lib/http/listen.ts';
import { openRaw, sendRaw } from '../support/network/raw-request.ts';
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
  expect(headers.answer).toContain('did not arrive in time');
  expect(headers.seconds).toBeLessThan(4);
  expect(body.answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(body.seconds).toBeGreaterThan(2);
});

const address = () => `http://127.0.0.1:${listener.port}/`;
const longCookie = (length: number) => ({ Cookie: `a=${'x'.repeat(length)}` });

it('accepts cookies and other headers of 32 KiB', async () => {
  expect((await fetch(address(), { headers: longCookie(31_000) })).status).toBe(200);
  expect((await fetch(address(), { headers: longCookie(33_000) })).status).toBe(431);
});

describe('a request that the HTTP parser refuses', () => {
  it('with too many cookies gets a page that says so in a browser, and tells the page around it', async () => {
    const response = await fetch(address(), {
      headers: { Accept: 'text/html,*/*;q=0.8', ...longCookie(40_000) },
    });
    expect(response.status).toBe(431);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const page = await response.text();
    expect(page).toContain('cookies');
    expect(page).toContain("{type:'accord:error',code:'too-large'}");
  });

  it.each([
    [431, `GET / HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`, 'cookies'],
    [431, `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 'address'],
    [400, 'GET / HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n', 'not valid HTTP'],
    [400, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 'not valid HTTP'],
    [
      413,
      `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;${'x'.repeat(20_000)}\r\n`,
      'extensions',
    ],
  ])('gets a problem document of status %i', async (status, request, cause) => {
    const answer = await sendRaw(address(), request);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} \\w`));
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toContain('Content-Type: application/problem+json');
    expect(head).toContain(`Content-Length: ${body.length}`);
    const problem = JSON.parse(body) as { status: number; detail: string };
    expect(problem.status).toBe(status);
    expect(problem.detail).toContain(cause);
  });

  it('after the beginning of a response ends the connection without a second one', async () => {
    const slow = await listen((_request, response) => void response.write('begun'), {
      host: '127.0.0.1',
      port: 0,
    });
    onTestFinished(() => slow.close(0));
    const socket = openRaw(`http://127.0.0.1:${slow.port}/`, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    let answer = '';
    for await (const chunk of socket) {
      answer += chunk;
      if (answer.includes('begun')) socket.write('not HTTP\r\n\r\n');
    }
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });
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
