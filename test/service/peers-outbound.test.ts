import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { type LoopbackServer, startLoopbackServer } from '../support/network/loopback-server.ts';

let open: TestInstance;
let closed: TestInstance;
let openAdmin: Caller;
let closedAdmin: Caller;
let elsewhere: LoopbackServer;
let endless: LoopbackServer;
beforeAll(async () => {
  [open, closed] = await Promise.all([
    startTestInstance(),
    startTestInstance({ OUTBOUND_ALLOWED_NETWORKS: '10.99.0.0/16' }),
  ]);
  [openAdmin, closedAdmin] = await Promise.all([signIn(open, 'admin'), signIn(closed, 'admin')]);
  elsewhere = await startLoopbackServer((_request, response) =>
    response.writeHead(307, { Location: closed.url }).end(),
  );
  endless = await startLoopbackServer((_request, response) => response.end(Buffer.alloc(2 ** 21 + 1)));
});
afterAll(async () => {
  await open?.stop();
  await closed?.stop();
  await elsewhere?.close();
  await endless?.close();
});

const pair = async (admin: Caller, url: string) => {
  const response = await admin.send('POST', '/peers', { url, apiKey: 'x'.repeat(43), withCounterPart: true });
  const { errors } = (await response.json()) as { errors?: { pointer: string; detail: string }[] };
  return { status: response.status, pointer: errors?.[0]?.pointer, detail: errors?.[0]?.detail };
};

describe('the address of a peer', () => {
  it('is not called in a private network unless the operator allows the network', async () => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '169.254.169.254', '10.0.0.1', '2130706433'])
      expect(await pair(closedAdmin, `https://${host}:${elsewhere.port}`)).toEqual({
        status: 422,
        pointer: '/url',
        detail: expect.stringContaining('OUTBOUND_ALLOWED_NETWORKS'),
      });
    expect(elsewhere.connections()).toBe(0);
  });

  it('must use https unless loopback is an allowed network', async () => {
    expect(await pair(closedAdmin, `http://127.0.0.1:${elsewhere.port}`)).toMatchObject({
      status: 422,
      detail: expect.stringContaining('https://'),
    });
    expect(elsewhere.connections()).toBe(0);
  });

  it('is not paired with if it redirects', async () => {
    expect(await pair(openAdmin, `http://127.0.0.1:${elsewhere.port}`)).toMatchObject({
      status: 422,
      detail: expect.stringContaining('redirects'),
    });
  });

  it('is not paired with if its response is endless', async () => {
    expect(await pair(openAdmin, `http://127.0.0.1:${endless.port}`)).toMatchObject({
      status: 422,
      detail: expect.stringContaining('too large'),
    });
  });

  it('leads to a 503 if the server cannot be reached', async () => {
    const gone = await startLoopbackServer(() => {});
    await gone.close();
    expect(await pair(openAdmin, `http://127.0.0.1:${gone.port}`)).toMatchObject({ status: 503 });
  });
});
