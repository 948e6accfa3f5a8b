import { beforeAll, describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { listOperations } from '../support/contract/contract-paths.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { type LiveSubject, problemOf, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, type LiveTransaction } from '../support/instances/live-transactions.ts';

let transaction: LiveTransaction;
let subject: LiveSubject;
const instance = useInstance();
const shop = useSetup(() => createKey(instance));
beforeAll(async () => {
  transaction = await createTransaction(shop);
  subject = subjectOf(instance, transaction);
});

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';
const typeOf = (response: Response) => response.headers.get('content-type')?.split(';')[0];

describe('a link', () => {
  it.each([
    ['*/*'],
    ['application/json'],
    ['application/*'],
    ['text/*, */*'],
    ['text/html;q=0.5, application/json'],
    ['application/json, text/html;q=0.9'],
    ['text/html;q=0.8, */*'],
  ])('returns JSON to a client that accepts %s', async (accept) => {
    const [root, form] = [await subject.get('', accept), await subject.get('/submit', accept)];
    expect([root.status, typeOf(root)]).toEqual([200, 'application/json']);
    expect([form.status, typeOf(form)]).toEqual([200, 'application/json']);
  });

  it.each([
    ['text/html'],
    ['text/html;q=0.1'],
    [browser],
    ['text/html, application/json;q=0.9'],
    ['TEXT/HTML'],
  ])('redirects a browser that accepts %s to the form, with a fresh token', async (accept) => {
    const root = await subject.get('', accept);
    expect(root.status).toBe(303);
    const task = root.headers.get('location') ?? '';
    expect(task).toMatch(new RegExp(`^${transaction.task}\\?t=.`));
    expect(task).not.toContain(transaction.token);
    const form = await instance.fetch(task, { headers: { Accept: accept } });
    expect([form.status, typeOf(form)]).toEqual([200, 'text/html']);
  });

  it('returns JSON to a client without Accept', async () => {
    // `fetch` always sends an Accept header; an empty one is treated as none.
    expect(typeOf(await subject.get('', ''))).toBe('application/json');
  });

  it.each([['image/png'], ['text/plain'], ['application/json;q=0, text/html;q=0']])(
    'rejects a client that accepts only %s, in JSON',
    async (accept) => {
      for (const path of ['', '/submit', '/child']) {
        const answer = await subject.get(path, accept);
        expect(typeOf(answer)).toBe('application/problem+json');
        expect((await problemOf(answer)).said).toBe('406 not-acceptable');
      }
    },
  );

  it('shows a browser a page that explains the error', async () => {
    const lost = subjectOf(instance, { id: transaction.id, token: 'garbled' });
    const page = await lost.get('', browser);
    expect([page.status, typeOf(page)]).toEqual([401, 'text/html']);
    expect((await problemOf(await lost.get())).said).toBe('401 unauthorized');
  });
});

describe('POST /consents', () => {
  const create = (headers: Record<string, string>, body: unknown = context) =>
    shop.send('POST', '/consents', body, headers);
  const context = { subject: 'alice', layout: 'layout.001' };

  it('returns JSON to every client that accepts it', async () => {
    for (const Accept of ['application/json', '*/*', 'application/*', 'text/html;q=0.5, */*;q=0.1']) {
      const answer = await create({ Accept });
      expect([answer.ok, typeOf(answer)]).toEqual([true, 'application/json']);
    }
  });

  it('rejects a client that does not accept JSON, and creates nothing', async () => {
    const answer = await create({ Accept: 'image/png' }, { ...context, subject: 'nobody' });
    expect((await problemOf(answer)).said).toBe('406 not-acceptable');
    const made = await shop.get('/transactions?subject=nobody');
    expect(await made.json()).toEqual({ values: [] });
  });

  it('accepts only JSON bodies, with or without a charset', async () => {
    const type = { 'Content-Type': 'application/json; charset=UTF-8' };
    expect((await create(type)).ok).toBe(true);
    const form = await create({ 'Content-Type': 'application/x-www-form-urlencoded' }, 'subject=alice');
    expect((await problemOf(form)).said).toBe('415 unsupported-media-type');
    const text = await create({ 'Content-Type': 'text/plain' }, JSON.stringify(context));
    expect((await problemOf(text)).said).toBe('415 unsupported-media-type');
  });
});

describe('POST /consents/{txid}/submit', () => {
  it('answers an invalid form post with a page for browsers and a problem for other clients', async () => {
    const send = (accept: string) =>
      instance.fetch(`${transaction.task}?t=${transaction.token}`, {
        method: 'POST',
        headers: { Accept: accept, 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'element/processing/processing.001/1.0=maybe',
      });
    const page = await send(browser);
    expect([page.status, typeOf(page)]).toEqual([422, 'text/html']);
    for (const accept of ['application/json', '*/*'])
      expect((await problemOf(await send(accept))).said).toBe('422 invalid-answer');
  });

  it('accepts only JSON bodies and form posts', async () => {
    const answer = await instance.fetch(`${transaction.task}?t=${transaction.token}`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: '{}',
    });
    expect((await problemOf(answer)).said).toBe('415 unsupported-media-type');
  });
});

describe('a client that asks for problem documents alone, as generated clients do where only errors have a type', () => {
  const Accept = 'application/problem+json';
  const admin = useSetup(() => signIn(instance, 'admin'));
  const gets = listOperations(readContract()).filter(
    ({ method, path }) => method === 'get' && path !== '/auth/authorize' && !/^\/(livez|readyz)$/.test(path),
  );

  it.each(gets.map(({ path, operation }) => [operation.operationId, path]))(
    'never gets a 406: %s',
    async (_, path) => {
      const response = await admin.get(path.replaceAll(/\{\w+\}/g, 'nope'), { Accept });
      expect(response.status).not.toBe(406);
      if (response.status >= 400) expect(typeOf(response)).toBe('application/problem+json');
    },
  );

  it('gets the version that a redirect leads to', async () => {
    const { id } = (await (await admin.get('/models/serials/processing.001')).json()) as { id: string };
    const found = await admin.get(`/models/${id}/versions/active`, { Accept });
    expect(found.status).toBe(303);
    const version = await admin.get(found.headers.get('location') ?? '', { Accept });
    expect([version.status, typeOf(version)]).toEqual([200, 'application/json']);
    expect(await version.json()).toMatchObject({ status: 'ACTIVE', serial: '1.0' });
  });
});
