import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, callerWith, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

let instance: TestInstance;
let operator: Caller;
let shop: Caller;
beforeAll(async () => {
  instance = await startTestInstance();
  [operator, shop] = await Promise.all([signIn(instance, 'operator'), createKey(instance)]);
});
afterAll(() => instance?.stop());

const create = (caller: Caller, context: object) =>
  caller.send('POST', '/consents', { layout: 'layout.001', ...context });

describe('a new transaction', () => {
  it('is CREATED, with a token, a task and a Location that opens it', async () => {
    const answer = await create(shop, { subject: 'alice' });
    expect(answer.status).toBe(201);
    const made = (await answer.json()) as Record<string, string>;
    const base = `${instance.url}/consents/${made.id}`;
    expect(made).toMatchObject({ subject: 'alice', state: 'CREATED', task: `${base}/submit` });
    expect(made).toMatchObject({ breed: `${base}/child`, updatable: true, cancellable: false });
    expect(made).not.toHaveProperty('receipt');
    expect(answer.headers.get('location')).toBe(`${base}?t=${made.token}`);
    const opened = await callerWith(instance, {}).get(answer.headers.get('location') as string);
    expect(await opened.json()).toMatchObject({ id: made.id, state: 'CREATED' });
  });

  it('lives for a week, or as long as its context says', async () => {
    const livesFor = async (context: object) => {
      const made = (await (await create(shop, context)).json()) as { created: string; expires: string };
      return (Date.parse(made.expires) - Date.parse(made.created)) / 3_600_000;
    };
    expect(await livesFor({ subject: 'bea' })).toBe(7 * 24);
    expect(await livesFor({ subject: 'bea', timeout: 'PT36H' })).toBe(36);
    expect(await livesFor({ subject: 'bea', timeout: 'P90D' })).toBe(90 * 24);
    const tooLong = await create(shop, { subject: 'bea', timeout: 'P91D' });
    expect(tooLong.status).toBe(422);
  });

  it('has the same shape when it is read again, each time with a fresh token', async () => {
    const made = await transactionIn(create(shop, { subject: 'carl' }));
    const again = (await (await shop.get(`/consents/${made.id}`)).json()) as Record<string, unknown>;
    expect(again).toEqual({ ...made, token: expect.any(String), links: expect.any(Object) });
    expect(again.token).not.toBe(made.token);
  });

  it('shows its context and its author to callers, and not to its subject', async () => {
    const { url, id } = await createTransaction(operator, { subject: 'dan', object: 'account 7' });
    const seen = await (await shop.get(`/consents/${id}`)).json();
    expect(seen).toMatchObject({ author: 'operator', context: { object: 'account 7', validity: 'P6M' } });
    const own = await (await callerWith(instance, {}).get(url)).json();
    expect(own).not.toHaveProperty('author');
    expect(own).not.toHaveProperty('context');
  });

  it('takes its settings from the context or from its configuration, not from both at odds', async () => {
    const nested = await create(shop, { subject: 'eve', configuration: { cancellable: true } });
    expect(await nested.json()).toMatchObject({ cancellable: true });
    const alike = { cancellable: true, configuration: { cancellable: true } };
    expect((await create(shop, { subject: 'eve', ...alike })).status).toBe(200);
    const atOdds = { cancellable: true, configuration: { cancellable: false } };
    expect((await create(shop, { subject: 'eve', ...atOdds })).status).toBe(422);
  });

  it('passes over fields that it does not know', async () => {
    expect((await create(shop, { subject: 'fred', preferredColour: 'blue' })).status).toBe(201);
  });

  it('takes an empty text for none', async () => {
    const made = await create(shop, { subject: 'gina', callback: '', object: '', language: '' });
    expect(made.status).toBe(201);
    const { id } = await transactionIn(made);
    const context = await (await shop.get(`/consents/${id}/context`)).json();
    for (const name of ['callback', 'object', 'language']) expect(context).not.toHaveProperty(name);
  });

  it('is about a subject whose name is trimmed and composed, and otherwise taken as it is', async () => {
    const answer = await create(shop, { subject: '  Zoe\u0301  ' });
    expect(await answer.json()).toMatchObject({ subject: 'Zo\u00e9' });
    expect((await create(shop, { subject: 'x'.repeat(1_024) })).status).toBe(201);
    expect((await create(shop, { subject: 'x'.repeat(1_025) })).status).toBe(422);
    expect((await create(shop, { subject: '   ' })).status).toBe(422);
  });

  it('has the origin of its host page written as browsers write it', async () => {
    const { id } = await createTransaction(shop, { iframeOrigin: 'https://Shop.example:' });
    const context = await (await shop.get(`/consents/${id}/context`)).json();
    expect(context).toMatchObject({ iframeOrigin: 'https://shop.example' });
  });
});

describe('who may create', () => {
  it('a user for themselves, and for nobody else', async () => {
    const user = await signIn(instance, 'user');
    expect((await create(user, { subject: 'user' })).status).toBe(201);
    expect((await create(user, { subject: 'alice' })).status).toBe(403);
  });

  it('nobody without a credential, nor with a transaction token', async () => {
    const unknown = await create(callerWith(instance, {}), { subject: 'alice' });
    expect(unknown.status).toBe(401);
    expect(unknown.headers.get('www-authenticate')).toBeTruthy();
    const { token } = await createTransaction(shop);
    const byToken = callerWith(instance, { Authorization: `Transaction ${token}` });
    expect((await create(byToken, { subject: 'alice' })).status).toBe(403);
  });
});
