import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { problemOf } from '../support/instances/live-subject.ts';
import {
  deliveryThat,
  type LiveDelivery,
  startEndpoint,
  subscribe,
  verify,
  webhookOf,
} from '../support/instances/webhook-endpoint.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));

/** A webhook and its endpoint. It is deleted when the test ends. */
async function subscribed() {
  const endpoint = await startEndpoint();
  const webhook = await subscribe(admin, endpoint.url);
  onTestFinished(async () => void (await admin.send('DELETE', `/webhooks/${webhook.id}`)));
  return { endpoint, webhook };
}

async function test({ id }: { id: string }): Promise<LiveDelivery> {
  const response = await admin.send('POST', `/webhooks/${id}/test`);
  expect(response.status).toBe(202);
  return (await response.json()) as LiveDelivery;
}

const ended = (id: string) => (delivery: LiveDelivery) => delivery.id === id && delivery.status !== 'PENDING';

/** The list with these filters, following `Link`. */
async function listed({ id }: { id: string }, filters: Record<string, string>): Promise<LiveDelivery[]> {
  const found: LiveDelivery[] = [];
  let url: string | undefined = `/webhooks/${id}/deliveries?${new URLSearchParams(filters)}`;
  while (url) {
    const page: Response = await admin.get(url);
    expect(page.status).toBe(200);
    found.push(...((await page.json()) as LiveDelivery[]));
    const next: string | undefined = /<([^>]+)>/.exec(page.headers.get('Link') ?? '')?.[1];
    url = next?.slice(instance.url.length);
  }
  return found;
}

describe('a test message', () => {
  it('is signed as every other message and names only the webhook', async () => {
    const { endpoint, webhook } = await subscribed();
    const delivery = await test(webhook);
    expect(delivery).toMatchObject({ action: 'webhook.test', sourceId: webhook.id, status: 'PENDING' });
    const [call] = await endpoint.called(1);
    expect(verify(webhook, call as never)).toMatchObject({
      type: 'io.accord.webhook.test.v1',
      source: instance.url,
      subject: webhook.id,
      data: { webhook: webhook.id },
    });
    expect(await deliveryThat(admin, webhook, ended(delivery.id))).toMatchObject({ status: 'DELIVERED' });
    const shown = await admin.get(`/webhooks/${webhook.id}/deliveries/${delivery.id}`);
    expect(await shown.json()).toMatchObject({
      status: 'DELIVERED',
      messageId: call?.message,
      body: call?.body,
    });
    const unknown = await admin.get(`/webhooks/${webhook.id}/deliveries/${webhook.id}`);
    expect(unknown.status).toBe(404);
  });

  it.each([500, 410])('is attempted once and leaves the webhook as it is after a %d', async (status) => {
    const { endpoint, webhook } = await subscribed();
    const before = await webhookOf(admin, webhook);
    endpoint.answerWith(status);
    const { id } = await test(webhook);
    expect(await deliveryThat(admin, webhook, ended(id))).toMatchObject({
      status: 'FAILED',
      attempts: 1,
      statusCode: status,
    });
    expect(await webhookOf(admin, webhook)).toEqual(before);
    endpoint.answerWith(204);
    await createKey(instance, 'published as key.created');
    await deliveryThat(
      admin,
      webhook,
      (made) => made.action === 'key.created' && made.status === 'DELIVERED',
    );
    expect(endpoint.calls).toHaveLength(2);
  });

  it('reaches a paused webhook, whose events go on waiting', async () => {
    const { endpoint, webhook } = await subscribed();
    endpoint.answerWith(410);
    await createKey(instance, 'published as key.created');
    await vi.waitFor(async () => expect(await webhookOf(admin, webhook)).toMatchObject({ state: 'PAUSED' }));
    // The event would be due if the webhook were not paused.
    await runInDatabase(instance, 'UPDATE webhooks.deliveries SET not_before = now() WHERE webhook = $1', [
      webhook.id,
    ]);
    const paused = await webhookOf(admin, webhook);
    endpoint.answerWith(204);
    const { id } = await test(webhook);
    expect(await deliveryThat(admin, webhook, ended(id))).toMatchObject({ status: 'DELIVERED', attempts: 1 });
    expect(endpoint.calls.map(({ event }) => event.type)).toEqual([
      'io.accord.key.created.v1',
      'io.accord.webhook.test.v1',
    ]);
    expect(await webhookOf(admin, webhook)).toEqual(paused);
    expect(await listed(webhook, { status: 'PENDING' })).toMatchObject([{ action: 'key.created' }]);
  });

  it('cannot be subscribed to', async () => {
    const { endpoint } = await subscribed();
    const input = { targetUrl: endpoint.url, subscribedActions: ['webhook.test'] };
    expect(await problemOf(await admin.send('POST', '/webhooks', input))).toMatchObject({
      said: '422 invalid',
    });
  });
});

describe('the list of deliveries', () => {
  it('is filtered by status, action and resource, on every page', async () => {
    const { endpoint, webhook } = await subscribed();
    const key = await createKey(instance, 'published as key.created');
    await deliveryThat(
      admin,
      webhook,
      ({ sourceId, status }) => sourceId === key.id && status === 'DELIVERED',
    );
    endpoint.answerWith(500);
    for (const { id } of [await test(webhook), await test(webhook)])
      await deliveryThat(admin, webhook, ended(id));
    const tests = { action: 'webhook.test', statusCode: 500 };
    expect(await listed(webhook, { status: 'FAILED', limit: '1' })).toMatchObject([tests, tests]);
    expect(await listed(webhook, { action: 'webhook.test', limit: '1' })).toMatchObject([tests, tests]);
    expect(await listed(webhook, { sourceId: key.id })).toMatchObject([{ action: 'key.created' }]);
    expect(await listed(webhook, { status: 'PENDING,DELIVERED' })).toMatchObject([{ sourceId: key.id }]);
    expect(await listed(webhook, { sourceId: key.id, status: 'FAILED' })).toEqual([]);
    expect(await listed(webhook, { action: 'CONSENT_COMMIT' })).toEqual([]);
    expect(await listed(webhook, { status: '', action: '', sourceId: '' })).toHaveLength(3);
  });

  it('refuses unknown statuses and actions', async () => {
    const { webhook } = await subscribed();
    const refused = await admin.get(`/webhooks/${webhook.id}/deliveries?status=DONE&action=key.lost`);
    expect(await problemOf(refused)).toMatchObject({
      said: '422 invalid',
      errors: [{ pointer: '/status' }, { pointer: '/action' }],
    });
  });
});
