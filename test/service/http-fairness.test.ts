import { describe, expect, it, onTestFinished } from 'vitest';
import { Failure } from '#lib/errors/fail.ts';
import { listen } from '#lib/http/listen.ts';
import { createBodyBudgets, readBody } from '#lib/http/request-body.ts';
import { openRaw, sendRaw } from '../support/network/raw-request.ts';
import { until } from '../support/run/until.ts';

const anyPort = { host: '127.0.0.1', port: 0 };
async function serve(handler: Parameters<typeof listen>[0]): Promise<string> {
  const listener = await listen(handler, anyPort);
  onTestFinished(() => listener.close(0));
  return `http://127.0.0.1:${listener.port}`;
}

describe('a connection with pipelined requests', () => {
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

  it('gets its responses in order, one request at a time', async () => {
    let running = 0;
    let most = 0;
    const url = await serve((request, response) => {
      running += 1;
      most = Math.max(most, running);
      setImmediate(() => {
        running -= 1;
        response.end(`<${request.url}>`);
      });
    });
    const paths = Array.from({ length: 200 }, (_, number) => `/${number}`);
    const answer = await sendRaw(
      url,
      paths.map((path) => get(path)).join('') + get('/end', 'Connection: close\r\n'),
    );
    expect(answer.match(/(?<=<)[^>]+(?=>)/g)).toEqual([...paths, '/end']);
    expect(most).toBe(1);
  });

  it('does not starve other connections', async () => {
    let answered = 0;
    const url = await serve((_request, response) => {
      answered += 1;
      response.end('done');
    });
    const greedy = openRaw(url, get('/').repeat(5_000));
    onTestFinished(() => void greedy.destroy());
    greedy.resume();
    await until(() => expect(answered).toBeGreaterThan(0));
    expect((await fetch(url)).status).toBe(200);
    expect(answered).toBeLessThan(5_000);
  });
});

describe('request bodies that are still arriving', () => {
  const size = 1024 * 1024;
  const post = (url: string, sent: number) => {
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\nConnection: close\r\n\r\n`;
    const socket = openRaw(url, Buffer.concat([Buffer.from(head), Buffer.alloc(sent, 'x')]));
    onTestFinished(() => void socket.destroy());
    return socket;
  };

  it('share a memory budget that small bodies do not need', async () => {
    const budget = createBodyBudgets().of('one');
    const refused: string[] = [];
    const url = await serve((request, response) => {
      readBody(request, size, budget).then(
        (body) => response.end(`took ${body.length}`),
        (failure) => {
          refused.push(failure instanceof Failure ? failure.code : 'other');
          response.writeHead(503).end();
        },
      );
    });
    const slow = Array.from({ length: 60 }, () => post(url, size - 1));
    await until(() => expect(refused.length).toBeGreaterThanOrEqual(60 - 35));
    expect(new Set(refused)).toEqual(new Set(['unavailable']));
    expect(refused.length).toBeLessThan(60 - 30);
    const small = await fetch(url, { method: 'POST', body: 'x'.repeat(60_000) });
    expect(await small.text()).toBe('took 60000');
    for (const socket of slow) socket.destroy();
    await until(async () => {
      const large = await fetch(url, { method: 'POST', body: 'x'.repeat(size) });
      expect(await large.text()).toBe(`took ${size}`);
    });
  });

  it('of one client leave memory for the bodies of others', () => {
    const budgets = createBodyBudgets();
    const fill = (client: string) => {
      let taken = 0;
      while (budgets.of(client).take(size)) taken += 1;
      return taken;
    };
    const one = fill('one');
    expect(one).toBeGreaterThanOrEqual(32);
    const further = ['two', 'three', 'four', 'five', 'six'].map(fill);
    for (const taken of further) expect(taken).toBeGreaterThan(0);
    budgets.of('one').release(one * size);
    expect(fill('seven')).toBeGreaterThan(further.at(-1) as number);
  });
});
