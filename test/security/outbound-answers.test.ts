import { once } from 'node:events';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { startLoopbackServer } from '../support/network/loopback-server.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';
import { ask } from './outbound/ask.ts';

const opened: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

type Options = Partial<Parameters<typeof createOutboundClient>[0]>;

function clientOf(options: Options = {}) {
  const client = createOutboundClient({
    allowedNetworks: ['127.0.0.0/8'],
    resolve: async () => ['127.0.0.1'],
    ...options,
  });
  opened.push(client.stop);
  return client;
}

async function serve(answer: RequestListener, certificate?: { key: string; cert: string }) {
  const server = await startLoopbackServer(answer, certificate ? { certificate } : {});
  opened.push(server.close);
  return { ...server, url: `${certificate ? 'https' : 'http'}://hook.example:${server.port}/` };
}

/** A server that says what it likes to whoever connects. */
async function serveBytes(say: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('data', () => say(socket));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://hook.example:${(server.address() as { port: number }).port}/`;
}

/** Writes for as long as somebody takes it. */
function pour(socket: Socket, chunk: string): void {
  while (!socket.destroyed && socket.write(chunk));
  if (!socket.destroyed) socket.once('drain', () => pour(socket, chunk));
}

const ok = 'HTTP/1.1 200 OK\r\n';

describe('a server that misbehaves', () => {
  it('is abandoned if it does not respond in time', async () => {
    const url = await serveBytes(() => {});
    expect(await ask(clientOf(), url, { timeoutMs: 30 })).toBe('failed: timeout');
  });

  it.each([
    ['headers', `${ok}X-Slow: `],
    ['a body with a length', `${ok}Content-Length: 1000\r\n\r\nslow`],
    ['a body in chunks', `${ok}Transfer-Encoding: chunked\r\n\r\n4\r\nslow\r\n`],
    ['a body until the end', `${ok}Connection: close\r\n\r\nslow`],
    ['interim answers', 'HTTP/1.1 102 Processing\r\n\r\n'],
  ])('is given up in time when %s never come to an end', async (_what, start) => {
    const url = await serveBytes((socket) => socket.write(start));
    expect(await ask(clientOf(), url, { timeoutMs: 30 })).toBe('failed: timeout');
  });

  it.each([
    ['a body with a length', `${ok}Content-Length: 9999999999\r\n\r\n`, 'x'.repeat(65_536)],
    ['a body in chunks', `${ok}Transfer-Encoding: chunked\r\n\r\n`, `10000\r\n${'x'.repeat(65_536)}\r\n`],
    ['a body until the end', `${ok}Connection: close\r\n\r\n`, 'x'.repeat(65_536)],
    ['headers', ok, `X-Long: ${'x'.repeat(60)}\r\n`],
    ['one header', `${ok}X-Long: `, 'x'.repeat(4_096)],
    ['a status line', 'HTTP/1.1 200 ', 'x'.repeat(4_096)],
  ])('is cut off when %s are endless', async (_what, start, more) => {
    const url = await serveBytes((socket) => {
      socket.write(start);
      pour(socket, more);
    });
    expect(await ask(clientOf(), url)).toBe('refused: too-large');
  });

  it("may send up to the caller's limit, and not a byte more", async () => {
    const { url } = await serve((_request, response) => response.end('x'.repeat(1_000)));
    const client = clientOf();
    expect(await ask(client, url, { maxBytes: 1_000 })).toBe(200);
    expect(await ask(client, url, { maxBytes: 999 })).toBe('refused: too-large');
  });

  it('cannot expand a compressed response, because it is not decompressed', async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(200, { 'Content-Encoding': 'gzip' }).end('not even gzip');
    });
    const { body, headers } = await clientOf().request({ method: 'GET', url, headers: {} });
    expect([Buffer.from(body).toString(), headers['content-encoding']]).toEqual(['not even gzip', 'gzip']);
  });

  it.each([
    ['nothing', ''],
    ['half of a header', `${ok}Content-Le`],
    ['half of a body', `${ok}Content-Length: 1000\r\n\r\nhalf`],
    ['half of a chunk', `${ok}Transfer-Encoding: chunked\r\n\r\nff\r\nhalf`],
    ['what is not HTTP', '220 mail.example ESMTP ready\r\n'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['two lengths', `${ok}Content-Length: 4\r\nContent-Length: 5\r\n\r\nhalf`],
  ])('may go away after %s', async (_what, start) => {
    const url = await serveBytes((socket) => socket.end(start));
    expect(await ask(clientOf(), url)).toBe('failed: closed');
  });

  it('may reset the connection', async () => {
    const url = await serveBytes((socket) => socket.resetAndDestroy());
    expect(await ask(clientOf(), url)).toBe('failed: closed');
  });
});

describe('an https address', () => {
  const certificate = selfSignedCertificate(['hook.example']);

  it('is called if the certificate is valid for the name, although the connection uses an address', async () => {
    let seen: IncomingMessage | undefined;
    const server = await serve((request, response) => {
      seen = request;
      response.end();
    }, certificate);
    expect(await ask(clientOf({ ca: certificate.cert }), server.url)).toBe(200);
    expect(seen?.headers.host).toBe(`hook.example:${server.port}`);
    expect(seen?.socket).toHaveProperty('servername', 'hook.example');
  });

  it('gets no request if the certificate is valid for another name only', async () => {
    const server = await serve((_request, response) => response.end(), certificate);
    for (const host of ['other.example', 'sub.hook.example', '127.0.0.1'])
      expect(await ask(clientOf({ ca: certificate.cert }), `https://${host}:${server.port}/`)).toBe(
        'failed: tls',
      );
    expect(server.requests()).toBe(0);
  });

  it('gets no request if the certificate is not trusted, even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    opened.push(async () => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
    const server = await serve((_request, response) => response.end(), certificate);
    expect(await ask(clientOf(), server.url)).toBe('failed: tls');
    expect(server.requests()).toBe(0);
  });

  it('is abandoned soon if it sends no TLS, and at once if it sends something else', async () => {
    const silent = await serveBytes(() => {});
    const plain = await serve((_request, response) => response.end());
    const client = clientOf({ connectMs: 30 });
    expect(await ask(client, silent.replace('http', 'https'))).toBe('failed: timeout');
    expect(await ask(clientOf(), plain.url.replace('http', 'https'))).toBe('failed: tls');
  });
});

describe('a request', () => {
  it('arrives with the host of its URL and without hop-by-hop headers of the caller', async () => {
    let seen: IncomingMessage | undefined;
    const server = await serve((request, response) => {
      seen = request;
      response.setHeader('Set-Cookie', ['a=1', 'b=2']).writeHead(202).end('taken');
    });
    const { status, headers, body } = await clientOf().request({
      method: 'DELETE',
      url: `${server.url}a/../b?c=d#e`,
      headers: { Host: 'inside', 'Content-Length': '0', 'transfer-encoding': 'chunked', 'X-Own': 'kept' },
      body: Buffer.from('{}'),
    });
    expect([seen?.method, seen?.url]).toEqual(['DELETE', '/b?c=d']);
    expect(seen?.headers).toEqual({
      'x-own': 'kept',
      'accept-encoding': 'identity',
      'content-length': '2',
      connection: 'keep-alive',
      host: `hook.example:${server.port}`,
    });
    expect([status, headers['set-cookie'], Buffer.from(body).toString()]).toEqual([202, 'a=1,b=2', 'taken']);
  });

  it('uses no proxy, even if the environment names one', async () => {
    const proxy = await serve((_request, response) => response.end());
    const server = await serve((_request, response) => response.end());
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']) {
      process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.url;
      opened.push(async () => delete process.env[name]);
    }
    expect(await ask(clientOf(), server.url)).toBe(200);
    expect(proxy.connections()).toBe(0);
  });

  it('that fails reveals neither its address, credentials and body nor the response', async () => {
    const secret = 'hunter2';
    const url = await serveBytes((socket) => socket.end(`HTTP/1.1 ${secret}\r\n\r\n`));
    const failing = [
      url,
      `http://user:${secret}@hook.example/`,
      `http://${secret}:x/`,
      `${secret}://x`,
      `http://127.0.0.1:1/${secret}`,
      `https://${secret}.example:1/?${secret}`,
    ];
    for (const each of failing) {
      const error = await clientOf()
        .request({
          method: 'POST',
          url: `${each}${secret}`,
          headers: { Authorization: secret },
          body: Buffer.from(secret),
        })
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      const { message, stack, cause } = error as Error;
      expect(JSON.stringify([message, stack, cause ?? null, error])).not.toContain(secret);
    }
  });
});
