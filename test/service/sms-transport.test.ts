import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSmsTransport } from '../../services/transactions/delivery/sms.ts';
import { startLoopbackServer } from '../support/network/loopback-server.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';
import { startSmsGateway } from '../support/network/sms-gateway.ts';

const number = '+33639980001';
const sms = { id: '0b9f3c1e', from: 'Theatre', to: number, text: 'Code: 123456 – à bientôt' };

async function send(url: string, more: Partial<typeof sms> | { from: null } = {}, signal?: AbortSignal) {
  const transport = createSmsTransport({ url });
  onTestFinished(() => transport.close());
  return transport.send({ ...sms, ...more }, signal ?? new AbortController().signal);
}

const start = async () => {
  const gateway = await startSmsGateway();
  onTestFinished(() => gateway.close());
  return gateway;
};

/** A gateway that answers as a test says. @returns its URL. */
async function startWith(answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    answer(request, response);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/send`;
}

const basic = `Basic ${Buffer.from('accord:se cret/ü').toString('base64')}`;
const withUser = (origin: string) => origin.replace('//', '//accord:se%20cret%2F%C3%BC@');

describe('a text message', () => {
  it('is posted as JSON with the user of the URL', async () => {
    const gateway = await start();
    expect(await send(`${withUser(gateway.origin)}/send?account=7`)).toEqual({ result: 'sent' });
    const { path, headers, fields } = await gateway.waitFor(number);
    expect(path).toBe('/send?account=7');
    expect(headers).toMatchObject({ authorization: basic, 'content-type': 'application/json' });
    expect(fields).toEqual(sms);
  });

  it('is posted as form fields with format=twilio, which is not sent on', async () => {
    const gateway = await start();
    const url = `${withUser(gateway.origin)}/send?account=7&format=twilio`;
    expect(await send(url)).toEqual({ result: 'sent' });
    const { path, headers, fields } = await gateway.waitFor(number);
    expect(path).toBe('/send?account=7');
    expect(headers).toMatchObject({
      authorization: basic,
      'content-type': 'application/x-www-form-urlencoded',
    });
    expect(fields).toEqual({ From: sms.from, To: number, Body: sms.text });
  });

  it('names no sender if the instance has none', async () => {
    const gateway = await start();
    await send(gateway.origin, { from: null });
    await send(`${gateway.origin}?format=twilio`, { from: null });
    const [json, form] = gateway.requests;
    expect(json?.fields).not.toHaveProperty('from');
    expect(json?.headers).not.toHaveProperty('authorization');
    expect(form?.fields).not.toHaveProperty('From');
  });
});

describe('the reply of a gateway', () => {
  it.each([
    [200, { result: 'sent' }],
    [202, { result: 'sent' }],
    [302, { result: 'failed', error: 'http-302' }],
    [400, { result: 'refused', error: 'http-400' }],
    [401, { result: 'refused', error: 'http-401' }],
    [403, { result: 'refused', error: 'http-403' }],
    [422, { result: 'refused', error: 'http-422' }],
    [408, { result: 'failed', error: 'http-408' }],
    [429, { result: 'failed', error: 'http-429' }],
    [500, { result: 'failed', error: 'http-500', isUnsure: true }],
    [503, { result: 'failed', error: 'http-503' }],
  ])('(%i) is %j', async (status, outcome) => {
    const gateway = await start();
    gateway.reply(status);
    expect(await send(gateway.origin)).toEqual(outcome);
    expect(gateway.requests).toHaveLength(1);
  });

  it('counts by its status, however long its body is', async () => {
    const url = await startWith((_request, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    expect(await send(url)).toEqual({ result: 'sent' });
  });

  it('is a failure if it does not come', async () => {
    expect(await send(await startWith((request) => request.socket.destroy()))).toEqual({
      result: 'failed',
      error: 'connection',
      isUnsure: true,
    });
    expect(await send(await startWith(() => {}))).toEqual({
      result: 'failed',
      error: 'timeout',
      isUnsure: true,
    });
  });

  it('is not waited for when the attempt is aborted', async () => {
    const stop = new AbortController();
    const url = await startWith(() => stop.abort());
    expect(await send(url, {}, stop.signal)).toEqual({
      result: 'failed',
      error: 'connection',
      isUnsure: true,
    });
  });

  it('is a failure if the certificate is not trusted, and nothing is sent', async () => {
    const certificate = selfSignedCertificate(['localhost']);
    const server = await startLoopbackServer((_request, response) => response.end(), { certificate });
    onTestFinished(() => server.close());
    expect(await send(`https://localhost:${server.port}/send`)).toEqual({ result: 'failed', error: 'tls' });
    expect(server.requests()).toBe(0);
  });
});
