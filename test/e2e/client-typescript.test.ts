import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, expectTypeOf, it } from 'vitest';
import {
  type Accord,
  AccordError,
  createAccord,
  ReceiptError,
  signingKeys,
  verifySignedReceipt,
  verifyWebhook,
  WebhookError,
} from '../../clients/typescript/src/index.ts';
import { unpackClient } from '../clients/packed-client.ts';
import { readContract } from '../support/contract/contract.ts';
import { listOperations, type ResponseObject, resolve } from '../support/contract/contract-paths.ts';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { startEndpoint } from '../support/instances/webhook-endpoint.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const run = promisify(execFile);
const instance = useInstance();
const demo = { clientId: 'accord', username: 'operator', password: 'demo' };
const accord = useSetup(async () => createAccord({ baseUrl: instance.url, auth: demo }));
const shop = useSetup(async () => {
  const { key: apiKey } = await createKey(instance);
  return createAccord({ baseUrl: instance.url, auth: { apiKey } });
});

const answers = {
  'element/processing/processing.001/1.0': 'accepted',
  'element/processing/processing.002/1.0': 'refused',
  'element/preference/preference.001/1.0': ['Once a month'],
};

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** What a client makes of responses that are given one after the other. @returns the requests, too. */
function scripted(responses: (Response | Error)[], auth?: Parameters<Accord['as']>[0]) {
  const requests: { method: string; url: string; headers: Record<string, string>; body: unknown }[] = [];
  const client = createAccord({
    baseUrl: 'https://consent.example.org',
    auth,
    fetch: async (url, { method = '', headers, body } = {}) => {
      requests.push({ method, url: String(url), headers: headers as Record<string, string>, body });
      const response = responses.shift() ?? Response.json({});
      if (response instanceof Error) throw response;
      return response;
    },
  });
  return { client, requests };
}
const refused = (status: number, after?: string) =>
  new Response('{}', { status, headers: after ? { 'Retry-After': after } : {} });

describe('the client for TypeScript', () => {
  it('collects, proves and withdraws a consent, and checks the receipt and the messages', async () => {
    const endpoint = await startEndpoint();
    const subscribedActions = ['consent.committed'];
    const { secret = '' } = await shop.createWebhook({
      body: { targetUrl: endpoint.url, subscribedActions },
    });

    const subject = `client-${crypto.randomUUID()}`;
    const created = await shop.createTransaction({ body: { subject, layout: 'layout.001' } });
    const txid = created.id;
    const person = shop.as({ linkToken: created.token });
    expect((await person.getForm({ txid })).elements).toHaveLength(3);
    expect(await person.submitAnswers({ txid, body: answers })).toMatchObject({ state: 'COMMITTED' });
    const records = await shop.listRecords({ subject });
    expect(records['processing.001']).toMatchObject([{ value: 'accepted', status: 'VALID' }]);

    const jws = await person.getReceipt({ txid, accept: 'application/jose' });
    const keys = await signingKeys(shop);
    expect(await verifySignedReceipt(jws, keys)).toEqual(await person.getReceipt({ txid }));
    const [header, payload = '', signature] = jws.split('.');
    const forged = [header, payload.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')), signature].join('.');
    for (const text of [forged, 'no receipt', jws.replace('.', '')])
      await expect(verifySignedReceipt(text, keys)).rejects.toThrow(ReceiptError);
    await expect(verifySignedReceipt(jws, [])).rejects.toThrow('does not publish the key');
    const pdf = await person.getReceipt({ txid, accept: 'application/pdf' });
    expect(await pdf.slice(0, 5).text()).toBe('%PDF-');

    const [call] = await endpoint.called(1);
    if (!call) throw new Error('nothing was sent');
    const event = await verifyWebhook(call.body, call.headers, ['whsec_b3RoZXI=', secret]);
    expect(event).toMatchObject({ type: 'io.accord.consent.committed.v1', data: { transaction: txid } });
    for (const [body, headers] of [
      [`${call.body} `, call.headers],
      [call.body, { ...call.headers, 'webhook-timestamp': '1700000000' }],
      [call.body, {}],
    ] as const)
      await expect(verifyWebhook(body, headers, secret)).rejects.toThrow(WebhookError);

    expect(await shop.withdrawConsents({ txid, body: {} })).toMatchObject({ kind: 'WITHDRAWAL' });
  });

  it('has the types of the contract', () => {
    expectTypeOf(accord.getReceipt<'application/pdf'>).returns.resolves.toEqualTypeOf<Blob>();
    expectTypeOf(accord.listRecords).parameter(0).toHaveProperty('subject').toEqualTypeOf<string>();
    // @ts-expect-error the subject is missing
    const call = () => accord.listRecords({});
    expect(call).toBeTypeOf('function');
  });

  it('has a problem as an error with its code, its status and the place of each fault', async () => {
    const failure = await accord
      .createTransaction({ body: { subject: 'alice', layout: 'unknown' } })
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(AccordError);
    expect(failure).toMatchObject({ status: 422, pointer: '/layout', errors: [{ pointer: '/layout' }] });
    expect((failure as AccordError).code).toMatch(/^[a-z-]+$/);
    const later = Response.json({ type: 'about:blank', code: 'unavailable' }, { status: 500 });
    await expect(scripted([later]).client.getUser()).rejects.toMatchObject({ code: 'unavailable' });
    const older = Response.json({ type: 'https://a.example/docs/problems/in-use' }, { status: 409 });
    await expect(scripted([older]).client.getUser()).rejects.toMatchObject({ code: 'in-use' });
    await expect(
      createAccord({ baseUrl: instance.url, auth: { ...demo, password: 'wrong' } }).getUser(),
    ).rejects.toMatchObject({ code: 'invalid_grant', status: 400 });
    await expect(scripted([new Response('<html>', { status: 500 })]).client.getUser()).rejects.toMatchObject({
      code: 'unexpected',
      status: 500,
    });
  });

  it('reads lists page after page, be they arrays or have they a cursor', async () => {
    const endpoint = 'http://127.0.0.1:9/hook';
    const body = { targetUrl: endpoint, subscribedActions: ['key.created'] };
    const made = [await accord.createWebhook({ body }), await accord.createWebhook({ body })];
    const webhooks = await all(accord.iterate.listWebhooks({ limit: 1 }));
    expect(webhooks.map(({ id }) => id)).toEqual(expect.arrayContaining(made.map(({ id }) => id)));
    const subject = `client-${crypto.randomUUID()}`;
    for (const object of ['a', 'b', 'c'])
      await accord.createTransaction({ body: { subject, object, layout: 'layout.001' } });
    expect(await all(accord.iterate.listTransactions({ subject, limit: 1 }))).toHaveLength(3);
  });

  it('follows a redirect within the instance alone, and returns headers if asked', async () => {
    const { data } = await accord.call('listModels', { keys: ['layout.001'] });
    const id = data.values[0]?.id ?? '';
    expect(await accord.getActiveVersion({ id })).toMatchObject({ serial: '1.0' });
    const { headers, status } = await accord.call('getModel', { id });
    expect([status, headers.get('etag')]).toEqual([200, expect.any(String)]);
    const away = new Response(null, { status: 303, headers: { Location: 'https://elsewhere.example/' } });
    const { client, requests } = scripted([away], { apiKey: 'secret' });
    await expect(client.getActiveVersion({ id })).rejects.toMatchObject({ status: 303 });
    expect(requests).toHaveLength(1);
  });

  it('repeats a request when it is told to, and others only if they can be repeated without effect', async () => {
    const waits = scripted([refused(429, '1'), refused(503, '0')]);
    const from = Date.now();
    await waits.client.createTransaction({ body: { subject: 'alice', layout: 'layout.001' } });
    expect(Date.now() - from).toBeGreaterThanOrEqual(1_000);
    expect(new Set(waits.requests.map(({ body }) => body))).toEqual(
      new Set(['{"subject":"alice","layout":"layout.001"}']),
    );
    expect(waits.requests).toHaveLength(3);

    const long = scripted([refused(503, '3600')]);
    await expect(long.client.getUser()).rejects.toMatchObject({ status: 503, retryAfter: 3600 });
    const lost = scripted([new TypeError('fetch failed'), refused(502, '0')]);
    expect(await lost.client.getUser()).toEqual({});
    const sent = scripted([new TypeError('fetch failed')]);
    await expect(sent.client.createTransaction({ body: { subject: 'a', layout: 'b' } })).rejects.toThrow(
      'fetch failed',
    );
    expect(sent.requests).toHaveLength(1);
  });

  it('renews a token before it ends and after a 401, once for all calls at the same time', async () => {
    const token = (name: string) =>
      Response.json({ access_token: name, expires_in: 300, refresh_token: `after ${name}` });
    const told: string[] = [];
    const { client, requests } = scripted([token('one'), refused(401), token('two')], {
      clientId: 'shop',
      clientSecret: 'a b',
      refreshToken: 'first',
      onRefreshToken: (each) => told.push(each),
    });
    await client.getUser();
    await Promise.all([client.getUser(), client.getUser()]);
    const grants = requests.filter(({ url }) => url.endsWith('/auth'));
    expect(grants.map(({ body }) => String(body))).toEqual([
      'grant_type=refresh_token&refresh_token=first',
      'grant_type=refresh_token&refresh_token=after+one',
    ]);
    expect(grants[0]?.headers.Authorization).toBe(`Basic ${btoa('shop:a+b')}`);
    expect(told).toEqual(['after one', 'after two']);
    const used = requests.filter(({ url }) => url.endsWith('/user'));
    expect(used.map(({ headers }) => headers.Authorization)).toEqual([
      'Bearer one',
      ...Array(3).fill('Bearer two'),
    ]);
  });

  it('calls every operation of the contract as the contract says', async () => {
    const document = readContract();
    for (const { path: template, method, operation } of listOperations(document)) {
      const { client, requests } = scripted([], { apiKey: 'secret' });
      const id = operation.operationId as 'getModel';
      const body = operation.requestBody
        ? resolve<{ content: object }>(document, operation.requestBody).value.content
        : undefined;
      const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'a b']);
      await client[id]({ ...Object.fromEntries(names), ...(body ? { body: {} } : {}) });
      const [request] = requests;
      expect(request?.method, id).toBe(method.toUpperCase());
      const url = `https://consent.example.org${template.replaceAll(/\{\w+\}/g, 'a%20b')}`;
      expect(request?.url, id).toBe(url);
      if (body) expect(Object.keys(body)).toContain(request?.headers['Content-Type']);
      const produced = Object.entries(operation.responses)
        .filter(([status]) => status.startsWith('2'))
        .flatMap(([, each]) => Object.keys(resolve<ResponseObject>(document, each).value.content ?? {}));
      if (produced.length > 0) expect(produced, id).toContain(request?.headers.Accept);
    }
  });

  it('is a package that can be installed, whose first example makes the first consent of the README', async () => {
    const work = await temporaryFolder();
    const installed = await unpackClient(path.join(work, 'node_modules'));
    const readme = readFileSync(path.join(installed, 'README.md'), 'utf8');
    const example = readme.split('```js\n')[1]?.split('```')[0] ?? '';
    await writeFile(path.join(work, 'first.mjs'), example.replace('http://localhost:8080', instance.url));
    for (let time = 0; time < 2; time += 1) {
      const { stdout } = await run('node', ['first.mjs'], { cwd: work });
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
        'processing.001': [{ value: 'accepted', status: 'VALID' }],
        'processing.002': [{ value: 'refused', status: 'VALID' }],
        'preference.001': [{ value: 'Once a month', status: 'VALID' }],
      });
    }
  });
});
