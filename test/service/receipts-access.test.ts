import { decodeJwt } from 'jose';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import {
  createTransaction,
  type LiveTransaction,
  recordAnswers,
} from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Receipt = components['schemas']['Receipt'];

/** Answered for the account `user`, and for somebody else. */
let own: LiveTransaction;
let foreign: LiveTransaction;
const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const user = useSetup(() => signIn(instance, 'user'));
beforeAll(async () => {
  const answers = { 'element/processing/processing.001/1.0': ['accepted'] };
  own = await recordAnswers(operator, 'user', answers);
  foreign = await recordAnswers(operator, 'ann', answers);
});

const page = { Accept: 'text/html' };
const withToken = (path: string, token: string, init: RequestInit = {}) =>
  instance.fetch(`${path}?t=${encodeURIComponent(token)}`, init);

describe('a receipt is shown to', () => {
  it('operators and keys', async () => {
    const key = await createKey(instance);
    for (const caller of [operator, key])
      expect((await caller.get(`/receipts/${foreign.id}`)).status).toBe(200);
  });

  it('its signed-in subject; another subject gets a 404', async () => {
    expect((await user.get(`/receipts/${own.id}`)).status).toBe(200);
    expect((await user.get(`/receipts/${foreign.id}`)).status).toBe(404);
    expect((await user.get('/receipts/7Zk3pQxWm4tYv9LsRb2NcD')).status).toBe(404);
  });

  it("a caller with the transaction's token in the query or a header", async () => {
    expect((await withToken(`/receipts/${own.id}`, own.token)).status).toBe(200);
    const headers = { Authorization: `Transaction ${own.token}` };
    expect((await instance.fetch(`/receipts/${own.id}`, { headers })).status).toBe(200);
    expect((await withToken(`/receipts/${foreign.id}`, own.token)).status).toBe(404);
    expect((await withToken('/records', own.token)).status).toBe(403);
  });

  it('no other caller', async () => {
    const answer = await instance.fetch(`/receipts/${own.id}`);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBeTruthy();
    expect((await withToken(`/receipts/${own.id}`, 'garbled')).status).toBe(401);
    const asPage = await instance.fetch(`/receipts/${own.id}`, { headers: page });
    expect(asPage.status).toBe(401);
    expect(asPage.headers.get('content-type')).toMatch(/^text\/html/);
  });
});

describe("the token of a receipt's QR code", () => {
  let token: string;
  let receipt: Receipt;
  beforeAll(async () => {
    receipt = (await (await operator.get(`/receipts/${own.id}`)).json()) as Receipt;
    token = new URL(receipt.updateUrl ?? '').searchParams.get('t') ?? '';
  });

  it('is valid until the receipt expires', () => {
    const expires = Date.parse(receipt.expirationTimestamp ?? '') / 1000;
    expect(decodeJwt(token)).toMatchObject({ use: 'receipt', sub: own.id, exp: Math.ceil(expires) });
  });

  it('opens the result, the receipt and the page of the child, any number of times', async () => {
    for (const path of [`/consents/${own.id}`, `/receipts/${own.id}`, `/consents/${own.id}/child`])
      for (const _again of [1, 2]) expect((await withToken(path, token, { headers: page })).status).toBe(200);
    const representation = await withToken(`/consents/${own.id}`, token);
    const fresh = (await representation.json()) as { token: string };
    expect(decodeJwt(fresh.token)).toMatchObject({ use: 'receipt' });
  });

  it('creates a child that can be answered', async () => {
    const made = await withToken(`/consents/${own.id}/child`, token, { method: 'POST' });
    expect(made.status).toBe(201);
    const child = (await made.json()) as LiveTransaction & { parent: string };
    expect(child.parent).toBe(own.id);
    expect((await withToken(child.task, child.token)).status).toBe(200);
  });

  it('opens nothing else', async () => {
    const send = (path: string, body: object) =>
      withToken(path, token, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await withToken(`/consents/${own.id}/submit`, token)).status).toBe(403);
    expect((await send(`/consents/${own.id}/submit`, {})).status).toBe(403);
    expect((await send(`/consents/${own.id}/cancel`, {})).status).toBe(403);
    expect((await withToken(`/consents/${own.id}/context`, token)).status).toBe(403);
    expect((await withToken(`/receipts/${foreign.id}`, token)).status).toBe(404);
  });
});

describe('the link on a receipt', () => {
  const answers = { 'element/processing/processing.001/1.0': ['accepted'] };
  const linkOf = async (id: string) => {
    const { updateUrl } = (await (await operator.get(`/receipts/${id}`)).json()) as Receipt;
    return new URL(updateUrl ?? '').searchParams.get('t') ?? '';
  };
  /** Opens pages after the validity of the context, which is half a year, by the clocks of all machines. */
  async function openLater(id: string, token: string) {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 210 * 86_400_000 });
    onTestFinished(() => void vi.useRealTimers());
    await letTimePass(instance, '210 days');
    onTestFinished(() => letTimePass(instance, '0 days'));
    const paths = [`/receipts/${id}`, `/consents/${id}`, `/consents/${id}/child`];
    const answered = paths.map((path) => withToken(path, token, { headers: page }));
    return (await Promise.all(answered)).map(({ status }) => status);
  }

  it('is dead when the consents have expired', async () => {
    const { id } = await recordAnswers(operator, 'link-expired', answers);
    expect(await openLater(id, await linkOf(id))).toEqual([401, 401, 401]);
  });

  it('works as long as accepted conditions, which never expire', async () => {
    const conditions = await makeLiveModel(await signIn(instance, 'admin'), 'conditions', {
      en: sampleContent.conditions,
    });
    const identifier = `element/conditions/${conditions.key}/1.0`;
    const { id } = await recordAnswers(operator, 'link-conditions', { [identifier]: ['accepted'] });
    expect(await openLater(id, await linkOf(id))).toEqual([200, 200, 200]);
  });

  it('works as long as a withdrawal, which never expires', async () => {
    const { id } = await recordAnswers(operator, 'link-withdrawn', answers);
    const withdrawn = await operator.send('POST', `/consents/${id}/withdraw`);
    const made = (await withdrawn.json()) as LiveTransaction;
    expect(await openLater(made.id, await linkOf(made.id))).toEqual([200, 200, 200]);
  });

  it('stays dead after the end of a transaction that was not committed', async () => {
    const { id } = await createTransaction(operator, { subject: 'link-cancelled' });
    const cancelled = await operator.send('POST', `/consents/${id}/cancel`);
    const { token } = (await cancelled.json()) as LiveTransaction;
    expect(await openLater(id, token)).toEqual([401, 401, 401]);
  });
});

describe("a transaction's token", () => {
  const secondsFromNow = (token: string) => Number(decodeJwt(token).exp) - Date.now() / 1000;
  const day = 24 * 60 * 60;

  it('expires a day after the deadline of an open transaction, and after a day in a final state', async () => {
    const open = await createTransaction(operator, { timeout: 'P2D' });
    expect(secondsFromNow(open.token)).toBeGreaterThan(3 * day - 60);
    expect(secondsFromNow(open.token)).toBeLessThan(3 * day + 60);
    const cancelled = await operator.send('POST', `/consents/${open.id}/cancel`);
    const { token } = (await cancelled.json()) as LiveTransaction;
    expect(secondsFromNow(token)).toBeGreaterThan(day - 60);
    expect(secondsFromNow(token)).toBeLessThan(day + 60);
    expect((await withToken(`/consents/${open.id}`, open.token)).status).toBe(200);
  });

  it('is new in every response, and earlier ones stay valid', async () => {
    const { id, token, task } = await createTransaction(operator);
    const tokens = [token];
    for (const path of [`/consents/${id}`, task, `/consents/${id}`]) {
      const answer = await withToken(path, tokens.at(-1) ?? '');
      tokens.push(((await answer.json()) as { token: string }).token);
    }
    expect(new Set(tokens).size).toBe(4);
    for (const each of tokens) expect((await withToken(`/consents/${id}`, each)).status).toBe(200);
  });
});
