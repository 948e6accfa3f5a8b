import { once } from 'node:events';
import { type IncomingMessage, type RequestOptions, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ComposeService, environmentIn, readCompose } from '../support/contract/compose-file.ts';
import { type Caller, callerWith, createKey, signIn } from '../support/instances/callers.ts';
import {
  type DistributedInstance,
  startDistributedInstance,
} from '../support/instances/distributed-instance.ts';
import { complete, problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { startNginxRouter } from '../support/network/nginx-router.ts';
import { brokers } from '../support/stores/kafka.ts';

const compose = readCompose();
const origin = 'https://shop.example';
const failuresAllowed = 5;

describe.runIf(brokers)('nginx with deploy/nginx.conf in front of the services', () => {
  let instance: DistributedInstance;
  let operator: Caller;
  beforeAll(async () => {
    const { TRUSTED_PROXIES = '' } = environmentIn(compose.services.transactions as ComposeService);
    const routerAddress = compose.services.router?.networks?.front?.ipv4_address ?? 'none';
    instance = await startDistributedInstance({
      kafkaBrokers: brokers as string,
      replicas: 1,
      startRouter: startNginxRouter,
      environment: {
        TRUSTED_PROXIES: TRUSTED_PROXIES.replaceAll(routerAddress, '127.0.0.1'),
        RATE_LIMITS: `key=6000,user=6000,transaction=6000,address=${failuresAllowed}`,
        CORS_ORIGINS: origin,
      },
    });
    operator = await signIn(instance, 'operator');
  }, 120_000);
  afterAll(() => instance?.stop());

  /** Sends a request from another loopback address, which stands for a client in a network of its own. */
  async function sendFrom(localAddress: string, path: string, options: RequestOptions = {}) {
    const url = new URL(path, instance.url);
    const sent = request({
      host: '127.0.0.1',
      port: url.port,
      path: url.pathname + url.search,
      localAddress,
      ...options,
    });
    sent.end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return { status: response.statusCode, body: await text(response) };
  }

  it('passes an API key on, by either name of its header and as Basic credentials', async () => {
    const { key } = await createKey(instance);
    const basic = `Basic ${Buffer.from(`any:${key}`).toString('base64')}`;
    const credentials: Record<string, string>[] = [
      { CM_KEY: key },
      { 'CM-Key': key },
      { Authorization: basic },
    ];
    for (const headers of credentials) {
      const listed = await callerWith(instance, headers).get('/transactions');
      expect(`${Object.keys(headers)} ${listed.status}`).toBe(`${Object.keys(headers)} 200`);
    }
  });

  it('passes the token of a link on, in the query and as an Authorization header', async () => {
    const made = await createTransaction(operator);
    expect((await subjectOf(instance, made).get()).status).toBe(200);
    const headers = { Authorization: `Transaction ${made.token}` };
    expect((await instance.fetch(`/consents/${made.id}`, { headers })).status).toBe(200);
  });

  it('passes form posts and redirects on, to addresses of the instance', async () => {
    const subject = subjectOf(instance, await createTransaction(operator));
    const posted = await subject.submitForm(complete, { Origin: 'null' });
    expect(posted.status).toBe(303);
    const location = new URL(posted.headers.get('location') ?? '', instance.url);
    expect(location.origin).toBe(instance.url);
    const final = await instance.fetch(location.href, { headers: { Accept: 'text/html' } });
    expect(await final.text()).toContain('data-state="COMMITTED"');
  });

  it('takes a submit of 1 MiB, and leaves it to the service to refuse a longer one', async () => {
    const subject = subjectOf(instance, await createTransaction(operator));
    const tooLong = await subject.submit({ ...complete, padding: ['x'.repeat(2 ** 20)] });
    expect((await problemOf(tooLong)).said).toMatch(/^413 /);
    const room = 2 ** 20 - JSON.stringify({ ...complete, padding: [''] }).length;
    const longest = await subject.submit({ ...complete, padding: ['x'.repeat(room)] });
    // The service has read all of it, and found a question that was not asked.
    expect((await problemOf(longest)).said).toMatch(/^422 /);
    expect((await transactionIn(subject.submit())).state).toBe('COMMITTED');
  });

  it('takes the longest part that a peer may send, and leaves it to the service to say who may', async () => {
    const part = await instance.fetch(`/federation/submissions/${'1'.repeat(22)}`, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ sealed: 'x'.repeat(2_162_688 - '{"sealed":""}'.length) }),
    });
    expect((await problemOf(part)).said).toBe('401 unauthorized');
  });

  it('answers a page of a listed origin as the service does, also its preflight', async () => {
    const preflight = await fetch(`${instance.url}/transactions`, {
      method: 'OPTIONS',
      headers: {
        Origin: origin,
        'Access-Control-Request-Method': 'GET',
        'Access-Control-Request-Headers': 'authorization',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
    const listed = await operator.get('/transactions', { Origin: origin });
    expect(listed.headers.get('access-control-allow-origin')).toBe(origin);
  });

  it('counts failures by the address of the client, which the client cannot choose', async () => {
    const guess = (from: string, claimed: string) =>
      sendFrom(from, '/transactions', { headers: { CM_KEY: 'wrong', 'X-Forwarded-For': claimed } });
    for (let tries = 1; tries <= failuresAllowed; tries += 1)
      expect((await guess('127.0.0.2', `10.0.0.${tries}, 192.168.0.${tries}`)).status).toBe(401);
    expect((await guess('127.0.0.2', '172.16.0.9')).status).toBe(429);
    expect((await guess('127.0.0.3', '172.16.0.9')).status, 'another client').toBe(401);
  });

  it('compresses pages and lists, and neither sign-in nor models, whose entity tags must stay strong', async () => {
    const encodingOf = async (caller: Caller, path: string, accept: string) => {
      const answer = await caller.get(path, { Accept: accept, 'Accept-Encoding': 'gzip' });
      expect(answer.status, path).toBe(200);
      return { encoding: answer.headers.get('content-encoding'), vary: answer.headers.get('vary') };
    };
    const made = await createTransaction(operator);
    const form = `/consents/${made.id}/submit?t=${made.token}`;
    for (const [path, accept] of [
      [form, 'text/html'],
      [form, 'application/json'],
    ] as const) {
      const { encoding, vary } = await encodingOf(callerWith(instance, {}), path, accept);
      expect(`${accept} ${encoding}`).toBe(`${accept} gzip`);
      expect(vary).toContain('Accept-Encoding');
    }
    const plain = await sendFrom('127.0.0.1', form, { headers: { Accept: 'text/html' } });
    expect(plain.body, 'for a client that does not ask for it').toContain('<html');
    const admin = await signIn(instance, 'admin');
    expect((await encodingOf(admin, '/models', 'application/json')).encoding).toBeNull();
    const { values } = (await (await admin.get('/models')).json()) as { values: { id: string }[] };
    const model = await admin.get(`/models/${values[0]?.id}`, { 'Accept-Encoding': 'gzip' });
    expect(model.headers.get('etag')).toMatch(/^"/);
    const { encoding } = await encodingOf(
      admin,
      '/auth/.well-known/openid-configuration',
      'application/json',
    );
    expect(encoding).toBeNull();
  });

  it('keeps the internal operations, probes and metrics of the services to itself', async () => {
    for (const path of [
      '/metrics',
      '/livez',
      '/readyz',
      '/internal/auth/introspect',
      '/auth/..%2finternal/auth/introspect',
    ])
      expect(`${path} ${(await sendFrom('127.0.0.1', path, { method: 'POST' })).status}`).toMatch(
        / 40[045]$/,
      );
  });
});
