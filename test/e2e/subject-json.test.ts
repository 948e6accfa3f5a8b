import { beforeAll, describe, expect, it } from 'vitest';
import { createKey } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';

/*
 * A client in JSON mode, written from the interface document alone: its paths, headers and members.
 */
let apiKey: string;
let accessToken: string;
const instance = useInstance();
beforeAll(async () => {
  apiKey = (await createKey(instance)).key;
  const response = await fetch(`${instance.url}/auth`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'client_id=cmclient&username=operator&password=demo&grant_type=password',
  });
  accessToken = ((await response.json()) as { access_token: string }).access_token;
});

interface Transaction {
  id: string;
  subject: string;
  state: string;
  token: string;
  task: string;
  breed: string;
}

interface Part {
  entry: { key: string };
  serial: string | number;
}

const context = (subject: string) => ({
  subject,
  layoutData: {
    type: 'layout',
    elements: ['processing.001', 'processing.002'],
    orientation: 'VERTICAL',
    info: 'information.001',
  },
});

/** Creates a transaction as a server does. */
const create = (body: object, headers: Record<string, string>) =>
  instance.fetch('/consents', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** What a subject's client does with nothing but the transaction that it was handed. */
async function answer({ token, task }: Transaction, choice: string): Promise<Response> {
  const form = await instance.fetch(`${task}?t=${token}`, { headers: { Accept: 'application/json' } });
  expect(form.status).toBe(200);
  const { info, elements } = (await form.json()) as { info: Part; elements: Part[] };
  const answers: Record<string, string[]> = {
    info: [`element/information/${info.entry.key}/${info.serial}`],
  };
  for (const element of elements)
    answers[`element/processing/${element.entry.key}/${element.serial}`] = [choice];
  return instance.fetch(`${task}?t=${token}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
    body: JSON.stringify(answers),
  });
}

const read = async ({ id, token }: Transaction) =>
  (await (
    await instance.fetch(`/consents/${id}?t=${token}`, { headers: { Accept: 'application/json' } })
  ).json()) as Transaction;

describe('a client written from the interface document', () => {
  it.each([
    ['a key and a token together', () => ({ CM_KEY: apiKey, Authorization: `Bearer ${accessToken}` })],
    ['a key beside a token that is none', () => ({ CM_KEY: apiKey, Authorization: 'Bearer' })],
    ['a key alone', () => ({ CM_KEY: apiKey })],
    ['a token alone', () => ({ Authorization: `Bearer ${accessToken}` })],
  ])('collects a consent with %s', async (how, headers) => {
    const created = await create(context(how), headers());
    expect(created.status).toBe(201);
    const transaction = (await created.json()) as Transaction;
    const { id, task, breed, state, subject, token } = transaction;
    expect({ state, subject, task, breed }).toEqual({
      state: 'CREATED',
      subject: how,
      task: `${instance.url}/consents/${id}/submit`,
      breed: `${instance.url}/consents/${id}/child`,
    });
    expect(created.headers.get('location')).toMatch(new RegExp(`^${instance.url}/consents/${id}\\?t=.+`));
    expect(token).toBeTruthy();
    expect((await answer(transaction, 'accepted')).ok).toBe(true);
    expect((await read(transaction)).state).toBe('COMMITTED');
  });

  it('gets the same transaction for the same context, as long as nothing has changed', async () => {
    const first = (await (await create(context('carol'), { CM_KEY: apiKey })).json()) as Transaction;
    const again = (await (await create(context('carol'), { CM_KEY: apiKey })).json()) as Transaction;
    expect(again.id).toBe(first.id);
  });

  it('changes a consent by the child of its transaction', async () => {
    const first = (await (await create(context('dora'), { CM_KEY: apiKey })).json()) as Transaction;
    await answer(first, 'accepted');
    const { token, breed } = await read(first);
    const bred = await instance.fetch(`${breed}?t=${token}`, {
      method: 'POST',
      headers: { Accept: 'application/json' },
    });
    const child = (await bred.json()) as Transaction;
    expect([child.state, child.subject]).toEqual(['CREATED', 'dora']);
    expect((await answer(child, 'refused')).ok).toBe(true);
    expect((await read(child)).state).toBe('COMMITTED');
  });

  it('opens the same address in a browser and is led to the form', async () => {
    const { id, token } = (await (await create(context('erik'), { CM_KEY: apiKey })).json()) as Transaction;
    const redirect = await instance.fetch(`/consents/${id}?t=${token}`, { headers: { Accept: 'text/html' } });
    expect(redirect.status).toBe(303);
    const page = await instance.fetch(redirect.headers.get('location') ?? '', {
      headers: { Accept: 'text/html' },
    });
    expect(await page.text()).toMatch(/<form [^>]*action="[^"]+\/submit\?t=[^"]+"/);
  });

  it('is refused without a credential, and with both kinds of layout', async () => {
    expect((await create(context('fred'), {})).status).toBe(401);
    const both = await create({ ...context('fred'), layout: 'layout.001' }, { CM_KEY: apiKey });
    expect(both.status).toBe(422);
  });
});
