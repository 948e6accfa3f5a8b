import { beforeAll, describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { listOperations } from '../support/contract/contract-paths.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import {
  createTransaction,
  type LiveTransaction,
  recordAnswers,
} from '../support/instances/live-transactions.ts';

const shop = 'https://shop.example';
const stranger = 'https://stranger.example';

let open: LiveTransaction;
let committed: LiveTransaction;
const instance = useInstance({ CORS_ORIGINS: shop });
const operator = useSetup(() => signIn(instance, 'operator'));
beforeAll(async () => {
  open = await createTransaction(operator);
  committed = await recordAnswers(operator, 'ann', { 'element/processing/processing.001/1.0': ['accepted'] });
});

const rule = ({ headers }: Response) => headers.get('access-control-allow-origin');
const read = (path: string, origin: string, headers: Record<string, string> = {}) =>
  instance.fetch(path, { headers: { Origin: origin, ...headers } });
/** Sends a preflight request. */
const preflight = (path: string, origin: string, method: string, headers = 'content-type') =>
  fetch(`${instance.url}${path}`, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': method,
      'Access-Control-Request-Headers': headers,
    },
  });

describe("a subject's transaction", () => {
  it.each([
    ['as JSON', () => `/consents/${open.id}?t=${open.token}`, {}, 200],
    ['its form', () => `/consents/${open.id}/submit?t=${open.token}`, {}, 200],
    ['redirected to the form', () => `/consents/${open.id}?t=${open.token}`, { Accept: 'text/html' }, 303],
    ['its final page', () => `/consents/${committed.id}?t=${committed.token}`, { Accept: 'text/html' }, 200],
    ['without a token', () => `/consents/${open.id}`, {}, 401],
    ['that does not exist', () => `/consents/nowhere?t=${open.token}`, {}, 404],
    [
      'in a media type that is not available',
      () => `/consents/${open.id}?t=${open.token}`,
      { Accept: 'image/png' },
      406,
    ],
  ] as const)(
    'can be read from any origin, without credentials: %s',
    async (_what, path, headers, status) => {
      const answer = await read(path(), stranger, headers);
      expect(answer.status).toBe(status);
      expect(rule(answer)).toBe('*');
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
      expect(answer.headers.get('access-control-expose-headers')).toBe('Location, Link, Retry-After');
      expect(answer.headers.get('vary')).toContain('Origin');
    },
  );

  it('can be answered and cancelled only from listed origins', async () => {
    const send = (path: string, origin: string) =>
      instance.fetch(`${path}?t=${open.token}`, {
        method: 'POST',
        headers: { Origin: origin, 'Content-Type': 'application/json' },
        body: '{}',
      });
    for (const path of [`/consents/${open.id}/submit`, `/consents/${open.id}/cancel`]) {
      expect(rule(await send(path, stranger))).toBeNull();
      expect(rule(await send(path, shop))).toBe(shop);
    }
  });
});

describe('other resources', () => {
  it.each([
    ['/records?subject=ann', 200],
    ['/transactions', 200],
    ['/subjects', 200],
    ['/user', 200],
    ['/models', 200],
    ['/subjects/nobody', 404],
  ])('%s can be read only from listed origins', async (path, status) => {
    const foreign = await read(path, stranger, operator.headers);
    const listed = await read(path, shop, operator.headers);
    expect([foreign.status, listed.status]).toEqual([status, status]);
    expect([rule(foreign), rule(listed)]).toEqual([null, shop]);
    expect(listed.headers.get('access-control-allow-credentials')).toBeNull();
    expect(foreign.headers.get('vary')).toContain('Origin');
  });

  it('/receipts can be read only from listed origins, even with a token', async () => {
    const path = `/receipts/${committed.id}?t=${committed.token}`;
    expect(rule(await read(path, stranger))).toBeNull();
    expect(rule(await read(path, shop))).toBe(shop);
  });

  it('reject API keys sent by pages of any origin', async () => {
    const key = await createKey(instance);
    for (const origin of [shop, stranger])
      expect((await read('/records?subject=ann', origin, key.headers)).status).toBe(403);
  });

  it('send no CORS headers to clients without an origin', async () => {
    const answer = await operator.get('/transactions');
    expect(rule(answer)).toBeNull();
    expect(answer.headers.get('access-control-expose-headers')).toBeNull();
  });
});

describe('a preflight request', () => {
  it('allows listed origins every operation of the contract, and no other origin one that writes', async () => {
    const refused: string[] = [];
    for (const { path: template, method } of listOperations(readContract())) {
      const path = template.replaceAll(/\{\w+\}/g, 'x');
      const listed = await preflight(path, shop, method.toUpperCase());
      const foreign = await preflight(path, stranger, method.toUpperCase());
      if (rule(listed) !== shop) refused.push(`${method} ${path}`);
      if (method !== 'get') expect(rule(foreign), path).toBeNull();
    }
    expect(refused).toEqual([]);
  });

  it('allows listed origins every method with Authorization, but no API key', async () => {
    for (const [path, method] of [
      ['/consents', 'POST'],
      [`/consents/${open.id}/submit`, 'POST'],
      ['/records?subject=ann', 'GET'],
      ['/subjects/nobody', 'PUT'],
    ] as const) {
      const { status, headers } = await preflight(path, shop, method, 'authorization, cm_key');
      expect(status).toBe(204);
      expect(headers.get('access-control-allow-origin')).toBe(shop);
      expect(headers.get('access-control-allow-methods')?.split(', ')).toContain(method);
      expect(headers.get('access-control-allow-headers')).toContain('Authorization');
      expect(headers.get('access-control-allow-headers')).not.toMatch(/cm.key/i);
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  it('allows other origins only to read a transaction', async () => {
    const answer = await preflight(`/consents/${open.id}`, stranger, 'GET', 'accept-language');
    expect(rule(answer)).toBe('*');
    expect(answer.headers.get('access-control-allow-methods')).toBe('GET, HEAD');
    expect(answer.headers.get('access-control-allow-headers')).not.toContain('Authorization');
    for (const [path, method] of [
      [`/consents/${open.id}/submit`, 'POST'],
      ['/consents', 'POST'],
      ['/records?subject=ann', 'GET'],
      [`/receipts/${committed.id}`, 'GET'],
    ] as const)
      expect(rule(await preflight(path, stranger, method))).toBeNull();
  });
});
