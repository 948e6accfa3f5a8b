import { Agent, type RequestOptions, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';

// The thread of a stranger (bench/stranger.ts): eight connections from an address of their own.

/** What the stranger does, and with what. */
export interface Attack {
  name: string;
  port: number;
  /** The address that the stranger calls from. */
  address: string;
  /** Counts the answers. */
  answered: Int32Array;
  /** Path of the form of a link, and of a receipt, with their tokens. */
  form: string;
  receipt: string;
}

const connections = 8;
const form = 'application/x-www-form-urlencoded';
const json = 'application/json';
const page = { Accept: 'text/html' };
const own = { 'Sec-Fetch-Site': 'same-origin', ...page };

type Sent = Pick<RequestOptions, 'method' | 'path' | 'headers'> & { body?: string };

/** Requests that are repeated as fast as they are answered, by attack. */
const repeated: Readonly<Record<string, (attack: Attack) => Sent>> = {
  'PDF of one link': ({ receipt }) => ({ path: `${receipt}&format=pdf` }),
  'form of one link': ({ form: path }) => ({ path, headers: page }),
  'wrong passwords': () => ({
    method: 'POST',
    path: '/auth',
    headers: { 'Content-Type': form },
    body: `grant_type=password&client_id=accord&username=${Math.random()}&password=wrong`,
  }),
  'links that are not valid': ({ form: path }) => ({
    path: `${path.replace(/t=.*/, 't=')}${Math.random()}`,
    headers: page,
  }),
  'keys that are not valid': () => ({
    path: '/records?subject=x',
    headers: { CM_KEY: `acc_${Math.random()}` },
  }),
  'no such page': () => ({ path: `/x/${Math.random()}`, headers: page }),
  contract: () => ({ path: '/openapi.json' }),
  'first page': () => ({ path: '/', headers: page }),
  probes: () => ({ path: '/livez' }),
  'sign-ins': () => ({ path: '/console', headers: page }),
  'forms to the console': ({ port }) => ({
    method: 'POST',
    path: '/console/x',
    headers: { ...own, 'Content-Type': form, Cookie: `accord_console_${port}=${'x'.repeat(43)}` },
    body: `a=${'x'.repeat(900_000)}`,
  }),
  'large JSON': ({ form: path }) => ({
    method: 'POST',
    path,
    headers: { 'Content-Type': json },
    body: JSON.stringify({ comment: Array.from({ length: 6_000 }, () => 'abc') }),
  }),
};

/** Connections that send or read slowly, by attack: the bytes that each begins with. */
const slow: Readonly<Record<string, (attack: Attack) => string>> = {
  'slow bodies': ({ form: path }) =>
    begin('POST', path, [`Content-Type: ${json}`, 'Content-Length: 60000'], '{'),
  'slow forms to the console': () =>
    begin(
      'POST',
      '/console/x',
      [`Content-Type: ${form}`, 'Sec-Fetch-Site: same-origin', 'Content-Length: 900000'],
      'a=',
    ),
  'slow readers': () => begin('GET', '/openapi.json', [], ''),
};

export const attacks = [...Object.keys(repeated), ...Object.keys(slow)];

function begin(method: string, path: string, headers: string[], body: string): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', body].join('\r\n');
}

export function attack(facts: Attack): void {
  const sent = repeated[facts.name];
  for (let number = 0; number < connections; number += 1)
    void (sent ? repeat(facts, () => sent(facts)) : dawdle(facts));
}

async function repeat({ port, address, answered }: Attack, next: () => Sent): Promise<void> {
  const to = { port, host: '127.0.0.1', localAddress: address };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (;;)
    await new Promise<void>((done) => {
      const { body, ...options } = next();
      const asked = request({ ...options, ...to, agent }, (response) => {
        Atomics.add(answered, 0, 1);
        response.resume().once('close', done);
      });
      asked.once('error', () => done());
      asked.end(body);
    });
}

/** Sends a byte and reads a kilobyte ten times a second, until the server ends the connection; then again. */
async function dawdle(facts: Attack): Promise<void> {
  for (;;) {
    const socket = connect({ port: facts.port, host: '127.0.0.1', localAddress: facts.address });
    socket.on('error', () => {});
    socket.write(slow[facts.name]?.(facts) ?? '');
    while (!socket.closed) {
      await wait(100);
      if (facts.name !== 'slow readers') socket.write('x');
      socket.read(1024);
    }
  }
}

if (workerData?.name) attack(workerData as Attack);
