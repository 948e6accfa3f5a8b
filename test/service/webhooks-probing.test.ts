import { randomUUID } from 'node:crypto';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createKeyedHash, drawApiKey } from '../../services/auth/domain/api-keys.ts';
import { type Caller, callerWith, createKey } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { deliveryThat, subscribe } from '../support/instances/webhook-endpoint.ts';

/** A local port that handles connections with `treat`; null: a closed port. */
async function openPort(treat: ((socket: Socket) => void) | null): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    treat?.(socket);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  const close = () => new Promise<void>((done) => void server.close(() => done()));
  if (treat) onTestFinished(() => void server.close());
  else await close();
  return port;
}

describe('a delivery of a webhook', () => {
  let instance: TestInstance;
  let shop: Caller;
  beforeAll(async () => {
    instance = await startTestInstance();
    shop = await createKey(instance);
  });
  afterAll(() => instance?.stop());

  it('does not reveal whether a port is open, closed or speaks another protocol', async () => {
    const ports: [string, ((socket: Socket) => void) | null][] = [
      ['http', null],
      ['https', null],
      ['http', (socket) => void socket.destroy()],
      ['https', (socket) => void socket.destroy()],
      ['http', (socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n')],
      ['https', (socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n')],
    ];
    const webhooks = await Promise.all(
      ports.map(async ([scheme, treat]) =>
        subscribe(shop, `${scheme}://127.0.0.1:${await openPort(treat)}/hook`),
      ),
    );
    await createKey(instance, 'published as key.created');
    for (const webhook of webhooks) {
      const failed = await deliveryThat(shop, webhook, ({ error }) => error !== undefined);
      expect(failed).toMatchObject({ error: 'The endpoint did not respond.' });
      expect(failed).not.toHaveProperty('duration');
      expect(failed).not.toHaveProperty('statusCode');
    }
    expect(instance.logs()).toContain('ECONNREFUSED');
  });
});

describe('an instance on a public address', () => {
  it('refuses webhooks on the loopback network by default', async () => {
    const instance = await startTestInstance({ HOST: '0.0.0.0' });
    onTestFinished(() => instance.stop());
    const [id, pepper] = [randomUUID(), instance.secrets.keyPepper];
    const key = drawApiKey(id);
    await runInDatabase(
      instance,
      `INSERT INTO auth.api_keys (id, name, scope, hash, created_at) VALUES ($1, 'shop', 'OWNER', $2, now())`,
      [id, createKeyedHash(pepper).hash(key)],
    );
    const shop = callerWith(instance, { CM_KEY: key });
    for (const host of ['127.0.0.1', 'localhost', '[::1]', '127.1']) {
      const made = await shop.send('POST', '/webhooks', {
        name: 'shop',
        targetUrl: `http://${host}:5432/hook`,
        subscribedActions: ['key.created'],
      });
      expect(made.status, host).toBe(422);
      expect(await made.json()).toMatchObject({ errors: [{ pointer: '/targetUrl' }] });
    }
  });
});
