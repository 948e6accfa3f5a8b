import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { LiveTransaction } from '../support/instances/live-transactions.ts';
import { expectRefusal, headersOf, modes, readProblem } from './bad-input/refusals.ts';
import { badInput } from './bad-input/session.ts';

const session = badInput();
let made: LiveTransaction;
let submit: string;
beforeAll(async () => {
  made = await session.open();
  submit = `/consents/${made.id}/submit?t=${made.token}`;
});

type Body = NonNullable<RequestInit['body']>;
const json = 'application/json';
const form = 'application/x-www-form-urlencoded';
const post = (path: string, body: Body, headers: Record<string, string>) =>
  session.instance.fetch(path, { method: 'POST', headers, body });
const postAsAdmin = (path: string, body: Body, headers: Record<string, string>) =>
  post(path, body, { ...session.admin.headers, ...headers });

/**
 * Sends more than any buffer holds, as a client that reads nothing before it has sent all. @returns the
 * status line.
 */
async function sendAndLeave(path: string): Promise<string> {
  const socket = connect(Number(new URL(session.instance.url).port), '127.0.0.1').pause();
  const body = 'x'.repeat(16 * 1_048_576);
  const headers = `Host: a\r\nConnection: close\r\nContent-Type: ${json}\r\nContent-Length: ${body.length}`;
  await new Promise<void>((sent, reject) => {
    socket.once('error', reject).write(`POST ${path} HTTP/1.1\r\n${headers}\r\n\r\n${body}`, () => sent());
  });
  return (await text(socket)).split('\r\n', 1)[0] as string;
}

describe('a client that accepts no available content type', () => {
  it.each(['', '/submit', '/child', '/context'])(
    'gets a 406 as a problem at /consents/{txid}%s',
    async (path) => {
      const response = await session.operator.get(`/consents/${made.id}${path}`, { Accept: 'image/png' });
      expect((await readProblem(response)).said).toBe('406 not-acceptable');
    },
  );

  it.each(['/models', '/records?subject=a', '/transactions', '/stats', '/keys', '/system/config', '/user'])(
    'gets a 406 as a problem at %s',
    async (path) => {
      const response = await session.admin.get(path, { Accept: 'text/csv;q=0.9, image/*' });
      expect((await readProblem(response)).said).toBe('406 not-acceptable');
    },
  );

  it('changes nothing with its requests', async () => {
    const headers = { Accept: 'image/png', 'Content-Type': json };
    await session.storingNothing(async () => {
      const requests: [string, object][] = [
        ['/consents', { subject: 'a', layout: 'layout.001' }],
        ['/consents/singlestep', { context: { subject: 'a', layout: 'layout.001' }, values: {} }],
        ['/subjects', { name: 'a' }],
        ['/keys', { name: 'a', scope: 'OWNER' }],
        ['/models', { type: 'theme', name: 'a' }],
        [`/consents/${made.id}/submit`, {}],
        [`/consents/${made.id}/cancel`, {}],
      ];
      for (const [path, body] of requests)
        expect((await readProblem(await postAsAdmin(path, JSON.stringify(body), headers))).said, path).toBe(
          '406 not-acceptable',
        );
    });
  });
});

describe('a method that a path does not support', () => {
  const addresses: [string, string, string[]][] = [
    ['/consents', 'POST, OPTIONS', ['GET', 'PUT', 'DELETE', 'PATCH']],
    ['/consents/singlestep', 'POST, OPTIONS', ['DELETE']],
    ['/consents/{txid}', 'GET, HEAD, OPTIONS', ['POST', 'PUT', 'DELETE', 'PATCH']],
    ['/consents/{txid}/submit', 'GET, POST, HEAD, OPTIONS', ['PUT', 'DELETE', 'PATCH']],
    ['/consents/{txid}/cancel', 'POST, OPTIONS', ['GET', 'PUT']],
    ['/consents/{txid}/child', 'GET, POST, HEAD, OPTIONS', ['PUT', 'DELETE']],
    ['/records', 'GET, HEAD, OPTIONS', ['POST', 'DELETE']],
    ['/models', 'GET, POST, HEAD, OPTIONS', ['PUT', 'DELETE']],
    ['/keys', 'GET, POST, HEAD, OPTIONS', ['PUT', 'PATCH']],
  ];

  it.each(addresses)(
    'is told at %s, which takes %s, and nothing is stored',
    async (path, allowed, methods) => {
      await session.storingNothing(async () => {
        for (const mode of modes)
          for (const method of methods) {
            const headers = { ...headersOf[mode], ...session.admin.headers };
            const response = await session.instance.fetch(path.replace('{txid}', made.id), {
              method,
              headers,
            });
            expect(response.headers.get('allow')).toBe(allowed);
            await expectRefusal(response, mode, [405, 'method-not-allowed']);
          }
      });
    },
  );
});

describe('a body that is too large', () => {
  const large = 'x'.repeat(1_048_577);
  const largeAnswers = {
    json: [JSON.stringify({ comment: large }), json],
    html: [`info=${large}`, form],
  } as const;

  it.each(modes)('is rejected as answers (%s); nothing is stored', async (mode) => {
    const [body, type] = largeAnswers[mode];
    await session.storingNothing(async () => {
      const response = await post(submit, body, { ...headersOf[mode], 'Content-Type': type });
      await expectRefusal(response, mode, [413, 'too-large']);
    });
  });

  it('is rejected even without Content-Length', async () => {
    const stream = new Blob([large, large]).stream();
    const init = {
      method: 'POST',
      headers: { 'Content-Type': json },
      body: stream,
      duplex: 'half',
    } as RequestInit;
    const { said } = await session.storingNothing(async () =>
      readProblem(await session.instance.fetch(submit, init)),
    );
    expect(said).toBe('413 too-large');
  });

  it('is rejected even if the client closes the connection afterwards', async () => {
    await session.storingNothing(async () => {
      expect(await sendAndLeave(submit)).toBe('HTTP/1.1 413 Payload Too Large');
      expect(await sendAndLeave('/consents')).toBe('HTTP/1.1 401 Unauthorized');
    });
  });

  it.each(['/consents', '/consents/preview', '/subjects', '/keys', '/records/extraction', '/transactions'])(
    'is refused at %s from 64 KiB on, and nothing is stored',
    async (path) => {
      const body = JSON.stringify({
        subject: 'a',
        name: 'a',
        layout: 'layout.001',
        attributes: { a: 'x'.repeat(65_536) },
      });
      const accept = path === '/consents/preview' ? 'html' : 'json';
      await session.storingNothing(async () => {
        const response = await postAsAdmin(path, body, { ...headersOf[accept], 'Content-Type': json });
        await expectRefusal(response, accept, [413, 'too-large']);
      });
    },
  );
});

describe('a body of an unsupported type', () => {
  const bodies: [string, Body, Record<string, string>][] = [
    ['text', '{}', { 'Content-Type': 'text/plain' }],
    ['multipart', 'info=x', { 'Content-Type': 'multipart/form-data; boundary=x' }],
    ['XML', '<a/>', { 'Content-Type': 'application/xml' }],
    ['no media type', '{}', { 'Content-Type': 'json' }],
    ['compressed', gzipSync('{}'), { 'Content-Type': json, 'Content-Encoding': 'gzip' }],
  ];

  it.each(bodies)(
    '(%s) is refused where answers are sent, and nothing is stored',
    async (_what, body, type) => {
      await session.storingNothing(async () => {
        for (const mode of modes)
          await expectRefusal(await post(submit, body, { ...headersOf[mode], ...type }), mode, [
            415,
            'unsupported-media-type',
          ]);
      });
    },
  );

  it.each([...bodies, ['a form', 'subject=a&layout=layout.001', { 'Content-Type': form }] as const])(
    '(%s) is refused where transactions are made, and nothing is stored',
    async (_what, body, type) => {
      await session.storingNothing(async () => {
        for (const path of ['/consents', '/consents/singlestep'])
          expect((await readProblem(await postAsAdmin(path, body, type))).said).toBe(
            '415 unsupported-media-type',
          );
        const preview = await postAsAdmin('/consents/preview', body, { ...headersOf.html, ...type });
        await expectRefusal(preview, 'html', [415, 'unsupported-media-type']);
      });
    },
  );
});
