import { createServer as createSecureServer } from 'node:https';
import { createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as { port: number }).port;
}

/** A server with this certificate. @returns its port, and how many requests have reached it. */
async function startWith(certificate: { key: string; cert: string }) {
  let requests = 0;
  const server = createSecureServer(certificate, (_request, response) => {
    requests += 1;
    response.end('{}');
  });
  return { port: await listen(server), requests: () => requests };
}

/** The handshake breaks off after so many bytes of the server's answer, or says something else. */
const faultyHandshakes: [string, (socket: Socket) => void][] = [
  ['ends without an answer', (socket) => void socket.once('data', () => socket.end())],
  [
    'is cut off within the server’s hello',
    (socket) => void socket.once('data', () => socket.end(Buffer.from('160303007a0200', 'hex'))),
  ],
  ['is reset', (socket) => void socket.once('data', () => socket.resetAndDestroy())],
  [
    'is answered by another protocol',
    (socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\n\r\n')),
  ],
  ['is never answered', () => {}],
];

describe('a request over TLS', () => {
  const trusted = selfSignedCertificate(['peer.example']);
  const expired = selfSignedCertificate(['peer.example'], '20210101000000Z');
  const call = async (port: number, { ca, host = 'peer.example' }: { ca?: string; host?: string }) => {
    const client = createOutboundClient({
      allowedNetworks: ['127.0.0.0/8'],
      resolve: async () => ['127.0.0.1'],
      connectMs: 500,
      ...(ca === undefined ? {} : { ca }),
    });
    onTestFinished(() => client.stop());
    return client.request({
      method: 'POST',
      url: `https://${host}:${port}/`,
      headers: {},
      body: Buffer.from('{}'),
    });
  };

  it('is sent if the certificate is trusted, current and valid for the name', async () => {
    const server = await startWith(trusted);
    expect((await call(server.port, { ca: trusted.cert })).status).toBe(200);
  });

  it.each([
    ['expired', expired, { ca: expired.cert }, 'CERT_HAS_EXPIRED'],
    ['not signed by a trusted authority', trusted, {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['another name’s', trusted, { ca: trusted.cert, host: 'other.example' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('is not sent if the certificate is %s', async (_name, certificate, how, code) => {
    const server = await startWith(certificate);
    await expect(call(server.port, how)).rejects.toMatchObject({ name: 'OutboundFailed', code });
    expect(server.requests()).toBe(0);
  });

  it.each(faultyHandshakes)('fails in time if the handshake %s', async (_name, treat) => {
    const port = await listen(createServer((socket) => treat(socket.on('error', () => {}))));
    await expect(call(port, { ca: trusted.cert })).rejects.toMatchObject({ name: 'OutboundFailed' });
  });
});

describe('pairing with an instance whose TLS is faulty', () => {
  let instance: TestInstance;
  let admin: Caller;
  beforeAll(async () => {
    instance = await startTestInstance();
    admin = await signIn(instance, 'admin');
  });
  afterAll(() => instance?.stop());

  it.each<[string, () => Promise<number>]>([
    ['a self-signed certificate', async () => (await startWith(selfSignedCertificate(['localhost']))).port],
    [
      'an expired certificate',
      async () => (await startWith(selfSignedCertificate(['localhost'], '20210101000000Z'))).port,
    ],
    ...faultyHandshakes
      .slice(0, 4)
      .map(([name, treat]): [string, () => Promise<number>] => [
        `a handshake that ${name}`,
        () => listen(createServer((socket) => treat(socket.on('error', () => {})))),
      ]),
  ])('(%s) is a 503 that changes nothing', async (_name, start) => {
    const { key } = await createKey(instance, 'partner', 'PEER');
    const response = await admin.send('POST', '/peers', {
      url: `https://localhost:${await start()}`,
      apiKey: key,
    });
    expect(response.status).toBe(503);
    expect(await (await admin.get('/peers')).json()).toEqual([]);
  });
});
