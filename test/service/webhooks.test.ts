import { describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import {
  deliveriesOf,
  deliveryThat,
  startEndpoint,
  subscribe,
  verify,
  webhookOf,
} from '../support/instances/webhook-endpoint.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
const shop = useSetup(() => createKey(instance));

/** Publishes a `key.created` event. */
const publishEvent = () => createKey(instance, 'published as key.created');
const uuid = /^[0-9a-f-]{36}$/;

describe('a webhook', () => {
  it('receives subscribed events with a signature that the reference library accepts', async () => {
    const endpoint = await startEndpoint();
    const webhook = await subscribe(shop, endpoint.url, ['consent.created']);
    const transaction = await createTransaction(shop);
    const [call] = await endpoint.called(1);
    const event = {
      specversion: '1.0',
      id: expect.stringMatching(uuid),
      type: 'io.accord.consent.created.v1',
      source: instance.url,
      subject: transaction.id,
      time: expect.any(String),
      datacontenttype: 'application/json',
      data: { transaction: transaction.id, state: 'CREATED', version: 1 },
    };
    expect(verify(webhook, call as never)).toMatchObject(event);
    expect(call?.headers['content-type']).toMatch(/^application\/cloudevents\+json/);
    const delivery = await deliveryThat(shop, webhook, ({ status }) => status === 'DELIVERED');
    expect(delivery).toMatchObject({
      webhookId: webhook.id,
      action: 'consent.created',
      sourceId: transaction.id,
      statusCode: 204,
      attempts: 1,
      redelivery: false,
      duration: expect.any(Number),
      deliveredAt: expect.any(String),
    });
    expect(delivery).not.toHaveProperty('nextAttemptAt');
  });

  it('accepts the older name CONSENT_COMMIT for consent.committed', async () => {
    const endpoint = await startEndpoint();
    const webhook = await subscribe(shop, endpoint.url, ['CONSENT_COMMIT']);
    const done = await shop.send('POST', '/consents/singlestep', {
      context: { subject: 'older', layoutData: { type: 'layout', elements: ['processing.001'] } },
      values: { 'element/processing/processing.001/1.0': ['accepted'] },
    });
    expect(done.status).toBe(201);
    const [call] = await endpoint.called(1);
    expect(call?.event).toMatchObject({ type: 'io.accord.consent.committed.v1' });
    expect(call?.body).not.toContain('older');
    expect((await webhookOf(shop, webhook)) as object).toMatchObject({
      subscribedActions: ['CONSENT_COMMIT'],
    });
  });

  it('shows its secret once and stores it encrypted', async () => {
    const endpoint = await startEndpoint();
    const webhook = await subscribe(shop, endpoint.url);
    expect(webhook.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await webhookOf(shop, webhook)).not.toHaveProperty('secret');
    const listed = await (await shop.get('/webhooks')).text();
    const [row] = await rowsOf<{ row: string }>(
      instance,
      `SELECT w::text || encode(w.secret, 'escape') AS row FROM webhooks.webhooks AS w WHERE w.id = $1`,
      [webhook.id],
    );
    const bytes = Buffer.from(webhook.secret.slice('whsec_'.length), 'base64');
    for (const place of [listed, row?.row, instance.logs()])
      for (const form of [webhook.secret.slice(6), bytes.toString('hex'), bytes.toString('latin1')])
        expect(place).not.toContain(form);
  });

  it('receives no other events, and none from before its creation', async () => {
    const endpoint = await startEndpoint();
    const early = await startEndpoint();
    const first = await subscribe(admin, early.url);
    await publishEvent();
    await deliveryThat(admin, first, ({ status }) => status === 'DELIVERED');
    const webhook = await subscribe(admin, endpoint.url, ['key.revoked']);
    const { id } = await publishEvent();
    await admin.send('DELETE', `/keys/${id}`);
    await endpoint.called(1);
    expect(endpoint.calls.map(({ event }) => event.type)).toEqual(['io.accord.key.revoked.v1']);
    expect(await deliveriesOf(admin, webhook)).toHaveLength(1);
  });
});
