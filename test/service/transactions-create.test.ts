import { describe, expect, it } from 'vitest';
import { type Caller, callerWith, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const shop = useSetup(() => createKey(instance));

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

  it('expires after a week or after the timeout of its context', async () => {
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

  it('has the same representation when it is read again, with a new token each time', async () => {
    const made = await transactionIn(create(shop, { subject: 'carl' }));
    const again = (await (await shop.get(`/consents/${made.id}`)).json()) as Record<string, unknown>;
    expect(again).toEqual({ ...made, token: expect.any(String), links: expect.any(Object) });
    expect(again.token).not.toBe(made.token);
  });

  it('shows context and author to privileged callers only', async () => {
    const { url, id } = await createTransaction(operator, { subject: 'dan', object: 'account 7' });
    const seen = await (await shop.get(`/consents/${id}`)).json();
    expect(seen).toMatchObject({ author: 'operator', context: { object: 'account 7', validity: 'P6M' } });
    const own = await (await callerWith(instance, {}).get(url)).json();
    expect(own).not.toHaveProperty('author');
    expect(own).not.toHaveProperty('context');
  });

  it('reads settings from the context or its configuration, and rejects contradictions', async () => {
    const nested = await create(shop, { subject: 'eve', configuration: { cancellable: true } });
    expect(await nested.json()).toMatchObject({ cancellable: true });
    const alike = { cancellable: true, configuration: { cancellable: true } };
    expect((await create(shop, { subject: 'eve', ...alike })).status).toBe(200);
    const atOdds = { cancellable: true, configuration: { cancellable: false } };
    expect((await create(shop, { subject: 'eve', ...atOdds })).status).toBe(422);
  });

  it('ignores unknown fields', async () => {
    expect((await create(shop, { subject: 'fred', preferredColour: 'blue' })).status).toBe(201);
  });

  it('treats empty texts as absent', async () => {
    const made = await create(shop, { subject: 'gina', callback: '', object: '', language: '' });
    expect(made.status).toBe(201);
    const { id } = await transactionIn(made);
    const context = await (await shop.get(`/consents/${id}/context`)).json();
    for (const name of ['callback', 'object', 'language']) expect(context).not.toHaveProperty(name);
  });

  it('has the subject trimmed and in NFC, otherwise unchanged', async () => {
    const answer = await create(shop, { subject: '  Zoe\u0301  ' });
    expect(await answer.json()).toMatchObject({ subject: 'Zo\u00e9' });
    expect((await create(shop, { subject: 'x'.repeat(1_024) })).status).toBe(201);
    expect((await create(shop, { subject: 'x'.repeat(1_025) })).status).toBe(422);
    expect((await create(shop, { subject: '   ' })).status).toBe(422);
  });

  it('has its iframeOrigin as browsers serialise it', async () => {
    const { id } = await createTransaction(shop, { iframeOrigin: 'https://Shop.example:' });
    const context = await (await shop.get(`/consents/${id}/context`)).json();
    expect(context).toMatchObject({ iframeOrigin: 'https://shop.example' });
  });
});

describe('who may create', () => {
  it('users may create for themselves only', async () => {
    const user = await signIn(instance, 'user');
    expect((await create(user, { subject: 'user' })).status).toBe(201);
    expect((await create(user, { subject: 'alice' })).status).toBe(403);
  });

  it('callers without a credential or with a transaction token may not', async () => {
    const unknown = await create(callerWith(instance, {}), { subject: 'alice' });
    expect(unknown.status).toBe(401);
    expect(unknown.headers.get('www-authenticate')).toBeTruthy();
    const { token } = await createTransaction(shop);
    const byToken = callerWith(instance, { Authorization: `Transaction ${token}` });
    expect((await create(byToken, { subject: 'alice' })).status).toBe(403);
  });
});
