import { type ClientRequestArgs, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

const instance = useInstance();

/** A request whose answer is not decoded, as fetch would. */
async function ask(path: string, headers: ClientRequestArgs['headers'] = {}, method = 'GET') {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    request(new URL(path, instance.url), { method, headers }, resolve).on('error', reject).end();
  });
  return { status: reply.statusCode, headers: reply.headers, body: await buffer(reply) };
}

const decode = { br: brotliDecompressSync, gzip: gunzipSync };
const paths = [
  '/assets/accord.css',
  '/assets/embed.js',
  '/assets/embed.mjs',
  '/assets/themes/theme.001/1.0.css',
  '/docs',
  '/openapi.yaml',
  '/openapi.json',
];

describe('a file and the documentation', () => {
  it.each(paths)('%s are sent compressed to a client that accepts it', async (path) => {
    const plain = await ask(path);
    expect(plain.headers['content-encoding']).toBeUndefined();
    for (const coding of ['br', 'gzip'] as const) {
      const small = await ask(path, { 'Accept-Encoding': coding });
      expect(small.headers['content-encoding']).toBe(coding);
      expect(decode[coding](small.body)).toEqual(plain.body);
      if (plain.body.length > 1000) expect(small.body.length).toBeLessThan(plain.body.length / 2);
      for (const { headers } of [plain, small]) expect(headers.vary).toMatch(/Accept-Encoding/);
    }
  });

  it('are sent as Brotli to a browser, and uncompressed to a client that refuses both codings', async () => {
    const coding = async (accepted: string) =>
      (await ask('/assets/embed.js', { 'Accept-Encoding': accepted })).headers['content-encoding'];
    expect(await coding('gzip, deflate, br, zstd')).toBe('br');
    expect(await coding('br;q=0, gzip')).toBe('gzip');
    expect(await coding('*')).toBe('br');
    expect(await coding('br;q=0, gzip;q=0')).toBeUndefined();
    expect(await coding('identity')).toBeUndefined();
  });

  it('have one entity tag per coding and answer 304 for each', async () => {
    const tags = new Set<string>();
    for (const coding of ['identity', 'gzip', 'br']) {
      const headers = { 'Accept-Encoding': coding };
      const { etag = '' } = (await ask('/assets/embed.js', headers)).headers;
      const again = await ask('/assets/embed.js', { ...headers, 'If-None-Match': etag });
      expect(again.status).toBe(304);
      expect(again.headers).toMatchObject({ etag, vary: expect.stringContaining('Accept-Encoding') });
      tags.add(etag);
    }
    expect(tags.size).toBe(3);
  });

  it.each(['identity', 'gzip', 'br'])('answer HEAD like GET in %s, without the body', async (coding) => {
    for (const path of ['/assets/accord.css', '/docs', '/openapi.json']) {
      const [get, head] = await Promise.all(
        ['GET', 'HEAD'].map((method) => ask(path, { 'Accept-Encoding': coding }, method)),
      );
      const shape = (reply: Awaited<ReturnType<typeof ask>> | undefined) =>
        ['content-length', 'content-encoding', 'content-type', 'etag', 'vary'].map(
          (name) => reply?.headers[name],
        );
      expect(head?.status).toBe(200);
      expect(head?.body.length).toBe(0);
      expect(shape(head)).toEqual(shape(get));
      expect(get?.headers['content-length']).toBe(String(get?.body.length));
    }
  });

  it('can be read by pages of every origin, without credentials', async () => {
    for (const path of ['/assets/embed.js', '/assets/embed.mjs', '/assets/themes/theme.001/1.0.css']) {
      const { headers } = await ask(path, { Origin: 'https://shop.example' });
      expect(headers['access-control-allow-origin']).toBe('*');
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
    expect(
      (await ask('/docs', { Origin: 'https://shop.example' })).headers['access-control-allow-origin'],
    ).toBeUndefined();
  });
});

describe('a page of a form', () => {
  it('is sent compressed to a browser, from the form to the final page', async () => {
    const operator = await signIn(instance, 'operator');
    const { url } = await createTransaction(operator);
    const address = url.replace('?', '/submit?');
    const plain = await ask(address, { Accept: 'text/html' });
    for (const coding of ['br', 'gzip'] as const) {
      const page = await ask(address, { Accept: 'text/html', 'Accept-Encoding': coding });
      expect(page.headers['content-encoding']).toBe(coding);
      expect(page.headers.vary).toMatch(/Accept-Encoding/);
      expect(decode[coding](page.body).toString()).toContain('<form id="choices"');
      expect(page.body.length).toBeLessThan(plain.body.length / 2);
    }
    expect(plain.headers['content-encoding']).toBeUndefined();
  });

  it('of any length is sent compressed', async () => {
    const admin = await signIn(instance, 'admin');
    const texts = Array.from({ length: 50 }, (_, index) => ({
      name: `Party ${index}`,
      value: `${'😀'.repeat(4)}${'a'.repeat(11)}\n`.repeat(680),
    }));
    const data = { title: 'T', data: 'd', usage: 'u', retention: { label: 'r' }, thirdParties: texts };
    const { key } = await makeLiveModel(admin, 'processing', { en: data });
    const { url } = await createTransaction(admin, { layoutData: { elements: [key] } });
    const address = url.replace('?', '/submit?');
    const textOf = (body: Buffer) => body.toString().replaceAll(/\bt=[\w.-]+/g, '');
    const plain = await ask(address, { Accept: 'text/html' });
    expect(plain.body.length).toBeGreaterThan(500_000);
    for (const coding of ['br', 'gzip'] as const) {
      const headers = { Accept: 'text/html', 'Accept-Encoding': coding };
      const page = await ask(address, headers);
      expect(page.headers['content-encoding']).toBe(coding);
      expect(textOf(decode[coding](page.body))).toBe(textOf(plain.body));
      const head = await ask(address, headers, 'HEAD');
      expect([head.status, head.headers['content-encoding'], head.body.length]).toEqual([200, coding, 0]);
    }
  });
});
