import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Listener, listen } from '#lib/http/listen.ts';

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
