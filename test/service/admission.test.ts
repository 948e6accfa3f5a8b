import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { openRaw } from '../support/network/raw-request.ts';
import { until } from '../support/run/until.ts';

let instance: TestInstance;
let token: string;
beforeAll(async () => {
  // A long wait, because other tests may keep the machine busy.
  instance = await startTestInstance({ MAX_IN_FLIGHT: '4', MAX_QUEUE_WAIT: '60000' });
  const fields = { client_id: 'accord', grant_type: 'password', username: 'operator', password: 'demo' };
  const response = await instance.fetch('/auth', { method: 'POST', body: new URLSearchParams(fields) });
  ({ access_token: token } = (await response.json()) as { access_token: string });
});
afterAll(() => instance?.stop());

const create = (subject: string) =>
  instance.fetch('/consents', {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ subject, layout: 'layout.001' }),
  });

describe('a burst of requests', () => {
  it('of one client is served without rejections', async () => {
    const burst = await Promise.all(Array.from({ length: 150 }, (_, number) => create(`subject-${number}`)));
    expect(new Set(burst.map(({ status }) => status))).toEqual(new Set([201]));
  });

  it('with equal contexts creates one transaction', async () => {
    const burst = await Promise.all(Array.from({ length: 64 }, () => create('the same')));
    expect(burst.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(burst.filter(({ status }) => status === 200)).toHaveLength(63);
  });

  it('shows in the metrics of queue length and waiting time', async () => {
    const metrics = await instance.metrics();
    expect(metrics).toMatch(/^accord_http_queue_length\{priority="low"\} 0$/m);
    expect(metrics).toMatch(/^accord_http_queue_wait_seconds_count\{priority="low"\} [1-9]\d+$/m);
  });
});

describe('clients that never finish sending their bodies', () => {
  const begin = (path: string, headers: string[] = []) => {
    const head = [`POST ${path} HTTP/1.1`, 'Host: a', 'Content-Length: 1000', ...headers];
    const socket = openRaw(instance.url, `${head.join('\r\n')}\r\n\r\na`);
    onTestFinished(() => void socket.destroy());
  };

  it.each([
    ['the token endpoint', '/auth', 'application/x-www-form-urlencoded'],
    [
      'the token endpoint of existing clients',
      '/auth/realms/any/protocol/openid-connect/token',
      'application/x-www-form-urlencoded',
    ],
    ['the sign-in page', '/auth/interaction/abc', 'application/x-www-form-urlencoded'],
    ['the page of the first administrator', '/auth/setup?token=abc', 'application/x-www-form-urlencoded'],
    ['operations that need credentials', '/consents', 'application/json'],
  ])('to %s do not block other clients', async (_name, path, type) => {
    const headers = [`Content-Type: ${type}`, `Authorization: Bearer ${token}`];
    for (let number = 0; number < 20; number += 1) begin(path, headers);
    // Once they have arrived they hold no slot, although they are still open.
    await until(async () => expect(await instance.metrics()).toMatch(/^accord_http_in_flight 0$/m));
    const started = performance.now();
    expect((await instance.fetch('/models', { headers: { Authorization: `Bearer ${token}` } })).status).toBe(
      200,
    );
    expect((await create(`beside ${path}`)).status).toBe(201);
    // Well before the slow requests time out.
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
