import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lightFetch } from '../support/network/light-fetch.ts';

/** Tells what it got, with the status that the path says. */
const server = createServer(async (request: IncomingMessage, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { 'accept-encoding': coding, host: _host, connection: _connection, ...rest } = request.headers;
  const headers = Object.entries(rest).sort();
  response.writeHead(Number(request.url?.slice(1)), {
    'Content-Type': 'application/json',
    ...(coding === 'gzip' && { 'Content-Encoding': 'gzip' }),
    'Set-Cookie': ['a=1; Path=/', 'b=2'],
    Location: '/elsewhere',
  });
  const text = JSON.stringify({ method: request.method, headers, body: Buffer.concat(chunks).toString() });
  response.end(coding === 'gzip' ? gzipSync(text) : text);
});
let origin = '';
beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

async function seen(response: Response) {
  const passing = ['date', 'keep-alive', 'connection', 'content-length', 'transfer-encoding'];
  return {
    status: response.status,
    headers: [...response.headers].filter(([name]) => !passing.includes(name)),
    cookies: response.headers.getSetCookie(),
    body: await response.text(),
  };
}

it.each<[string, number, RequestInit]>([
  ['a read', 200, {}],
  ['a read with headers', 200, { headers: { Accept: 'text/html', Authorization: 'Bearer a' } }],
  ['a read that may be compressed', 200, { headers: { 'Accept-Encoding': 'gzip' } }],
  ['a post of a text', 201, { method: 'POST', body: 'Größe' }],
  [
    'a post of JSON',
    409,
    { method: 'POST', body: '{"a":1}', headers: { 'Content-Type': 'application/json' } },
  ],
  ['a post of a form', 303, { method: 'POST', body: new URLSearchParams({ a: 'ä&b' }) }],
  ['a post of bytes', 200, { method: 'POST', body: new Uint8Array([65, 66]) }],
  ['a change with a file', 200, { method: 'PUT', body: new Blob(['a']) }],
  ['a change without a body', 204, { method: 'DELETE' }],
  ['a head', 200, { method: 'HEAD' }],
  ['a read with a signal', 500, { signal: AbortSignal.timeout(60_000) }],
])('%s is sent and received as by fetch', async (_what, status, init) => {
  const url = new URL(`/${status}`, origin);
  const expected = await seen(await fetch(url, { redirect: 'manual', ...init }));
  expect(await seen(await lightFetch(url, init))).toEqual(expected);
});

it('is aborted by its signal as fetch is', async () => {
  const url = new URL('/200', origin);
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(fetch(url, { signal })).rejects.toThrow('enough');
  await expect(lightFetch(url, { signal })).rejects.toThrow('enough');
});

it('fails as fetch does if the connection is refused', async () => {
  const nowhere = new URL('http://127.0.0.1:1/');
  const faultOf = (response: Promise<Response>) =>
    response.catch((error: Error) => [error.name, error.message]);
  expect(await faultOf(lightFetch(nowhere, {}))).toEqual(await faultOf(fetch(nowhere)));
});
