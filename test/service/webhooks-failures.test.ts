import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { holdUp } from '../support/instances/held-up.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { problemOf } from '../support/instances/live-subject.ts';
import {
  deliveriesOf,
  deliveryThat,
  type LiveDelivery,
  startEndpoint,
  subscribe,
  verify,
  type WebhookEndpoint,
  webhookOf,
} from '../support/instances/webhook-endpoint.ts';
import { patience } from '../support/run/patience.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));

/** Publishes a `key.created` event. */
const publishEvent = () => createKey(instance, 'published as key.created');

/** A webhook and its endpoint. It is deleted when the test ends, so that it receives no later events. */
async function subscribed(answer?: WebhookEndpoint['answer']) {
  const endpoint = await startEndpoint();
  if (answer) endpoint.answer = answer;
  const webhook = await subscribe(admin, endpoint.url);
  onTestFinished(async () => void (await admin.send('DELETE', `/webhooks/${webhook.id}`)));
  return { endpoint, webhook };
}

const triedTimes = (count: number) => (delivery: LiveDelivery) =>
  delivery.attempts === count && delivery.statusCode !== undefined;

/** Seconds until the next attempt, on the clock of the database. */
const waitOf = ({ nextAttemptAt = '' }: LiveDelivery, shiftMs = 0) =>
  (Date.parse(nextAttemptAt) - Date.now() - shiftMs) / 1000;

describe('an endpoint', () => {
  it.each<[string, string, WebhookEndpoint['answer'], object]>([
    [
      'a 500 response',
      'The endpoint responded with 500.',
      (_request, response) => void response.writeHead(500).end('boom'),
      { statusCode: 500 },
    ],
    [
      'a redirect',
      'The answer was a redirect; redirects are not followed.',
      (_request, response) => void response.writeHead(302, { Location: '/elsewhere' }).end(),
      {},
    ],
    [
      'an endless response',
      'The answer was too large.',
      (_request, response) => {
        response.writeHead(200);
        const more = () => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
          response.once('drain', more);
        };
        more();
      },
      {},
    ],
    ['a closed connection', 'The endpoint did not respond.', (request) => void request.socket.destroy(), {}],
  ])('is called again after %s', async (_name, error, answer, facts) => {
    const { endpoint, webhook } = await subscribed(answer);
    await publishEvent();
    const failed = await deliveryThat(admin, webhook, (delivery) => delivery.error !== undefined);
    expect(failed).toMatchObject({ status: 'PENDING', attempts: 1, error, ...facts });
    const wait = waitOf(failed);
    expect(wait).toBeGreaterThan(1);
    expect(wait).toBeLessThan(6);
    expect(await webhookOf(admin, webhook)).toMatchObject({
      state: 'ACTIVE',
      failingSince: expect.any(String),
      lastError: { reason: error, ...facts },
    });
    expect(instance.logs()).not.toContain('boom');
    endpoint.answerWith(200);
    // Makes the retry due at once.
    await runInDatabase(instance, 'UPDATE webhooks.deliveries SET not_before = now() WHERE webhook = $1', [
      webhook.id,
    ]);
    const [first, second] = await endpoint.called(2);
    expect(endpoint.calls.map(({ path }) => path)).toEqual(['/hook', '/hook']);
    expect(second?.message).toBe(first?.message);
    expect(second?.body).toBe(first?.body);
    expect(verify(webhook, second as never)).toMatchObject({ type: 'io.accord.key.created.v1' });
    await deliveryThat(admin, webhook, ({ status }) => status === 'DELIVERED');
    expect(await webhookOf(admin, webhook)).not.toHaveProperty('failingSince');
  });

  it('does not delay other endpoints when it does not respond', async () => {
    const silent = await Promise.all(Array.from({ length: 3 }, () => subscribed(() => {})));
    const { endpoint } = await subscribed();
    for (let count = 0; count < 8; count += 1) await publishEvent();
    await endpoint.called(8, 5_000);
    // At most four concurrent requests.
    for (const each of silent) expect(each.endpoint.calls.length).toBeLessThanOrEqual(4);
  });

  it('is probed with one delivery at a time once it fails, however many wait, and logged once', async () => {
    const { endpoint, webhook } = await subscribed();
    const count = (status: string) =>
      rowsOf(instance, 'SELECT id FROM webhooks.deliveries WHERE webhook = $1 AND status = $2', [
        webhook.id,
        status,
      ]).then((rows) => rows.length);
    const endWait = () =>
      runInDatabase(instance, 'UPDATE webhooks.webhooks SET next_at = now() WHERE id = $1', [webhook.id]);
    const linesOf = (text: string) =>
      instance
        .logs()
        .split('\n')
        .filter((line) => line.includes(text) && line.includes(webhook.id));
    /** Waits for a number of consecutive failures. @returns the seconds until the next probe. */
    const failedInARow = (failures: number) =>
      vi.waitFor(async () => {
        const [row] = await rowsOf<{ failures: number; seconds: number }>(
          instance,
          `SELECT failures, extract(epoch FROM next_at - now())::float8 AS seconds FROM webhooks.webhooks WHERE id = $1`,
          [webhook.id],
        );
        expect(row?.failures).toBe(failures);
        return Number(row?.seconds);
      }, patience);
    const open: ServerResponse[] = [];
    endpoint.answer = (_request, response) => void open.push(response);
    for (let index = 0; index < 30; index += 1) await publishEvent();
    await endpoint.called(4);
    let running = 0;
    let most = 0;
    endpoint.answer = (_request, response) => {
      running += 1;
      most = Math.max(most, running);
      response.on('finish', () => {
        running -= 1;
      });
      setImmediate(() => response.writeHead(503).end());
    };
    for (const response of open) response.writeHead(503).end();
    // The four that were under way, and one probe without a wait.
    expect(await failedInARow(2)).toBeLessThan(6);
    expect(endpoint.calls).toHaveLength(5);
    for (const [index, wait] of [30, 120, 600, 600].entries()) {
      await endWait();
      const seconds = await failedInARow(3 + index);
      expect(seconds).toBeGreaterThan(wait - 10);
      expect(seconds).toBeLessThan(wait * 1.1 + 1);
      expect(endpoint.calls).toHaveLength(6 + index);
    }
    expect(most).toBe(1);
    expect(linesOf('webhook delivery failed').length).toBeLessThanOrEqual(4);
    endpoint.answerWith(204);
    await endWait();
    await vi.waitFor(async () => expect(await count('DELIVERED')).toBeGreaterThan(20), patience);
    await failedInARow(0);
    expect(linesOf('webhook endpoint accepts deliveries again')).toHaveLength(1);
  });

  it('gets a test message and a repeated delivery at once while it is only probed', async () => {
    const { endpoint, webhook } = await subscribed();
    endpoint.answerWith(503);
    await publishEvent();
    const failed = await deliveryThat(admin, webhook, triedTimes(1));
    const waitAnHour = () =>
      runInDatabase(
        instance,
        `UPDATE webhooks.webhooks SET failures = 9, next_at = now() + interval '1 hour' WHERE id = $1`,
        [webhook.id],
      );
    await waitAnHour();
    await admin.send('POST', `/webhooks/${webhook.id}/test`);
    await endpoint.called(2);
    await deliveryThat(
      admin,
      webhook,
      ({ action, status }) => action === 'webhook.test' && status === 'FAILED',
    );
    await waitAnHour();
    endpoint.answerWith(204);
    await admin.send('POST', `/webhooks/${webhook.id}/deliveries/${failed.id}/redeliver`);
    await deliveryThat(admin, webhook, ({ id, status }) => id === failed.id && status === 'DELIVERED');
  });

  it('receives the next message before the outcome of the last one is committed', async () => {
    const { endpoint, webhook } = await subscribed();
    const open: ServerResponse[] = [];
    endpoint.answer = (_request, response) => void open.push(response);
    for (let count = 0; count < 10; count += 1) await publishEvent();
    const rows = (condition: string) =>
      rowsOf(instance, `SELECT id FROM webhooks.deliveries WHERE webhook = $1 AND ${condition}`, [
        webhook.id,
      ]);
    await endpoint.called(4);
    await vi.waitFor(async () => expect(await rows('true')).toHaveLength(10), patience);
    const held = await holdUp(instance, 'LOCK TABLE webhooks.deliveries IN SHARE MODE', 'accord-webhooks');
    endpoint.answerWith(204);
    for (const response of open) response.writeHead(204).end();
    await endpoint.called(10);
    await held.release();
    await vi.waitFor(async () => expect(await rows("status = 'DELIVERED'")).toHaveLength(10), patience);
    expect(endpoint.calls).toHaveLength(10);
  });

  it('is paused after 410 Gone and receives pending deliveries when resumed', async () => {
    const { endpoint, webhook } = await subscribed();
    endpoint.answerWith(410);
    await publishEvent();
    await deliveryThat(admin, webhook, triedTimes(1));
    const paused = await webhookOf(admin, webhook);
    expect(paused).toMatchObject({ state: 'PAUSED', lastError: { statusCode: 410 } });
    expect(Date.parse(paused.stateSince)).toBeGreaterThan(Date.now() - 10_000);
    await publishEvent();
    await deliveryThat(admin, webhook, ({ attempts }) => attempts === 0);
    const waiting = await deliveriesOf(admin, webhook);
    expect(waiting.map(({ status }) => status)).toEqual(['PENDING', 'PENDING']);
    const refused = await admin.send(
      'POST',
      `/webhooks/${webhook.id}/deliveries/${waiting[0]?.id}/redeliver`,
    );
    expect(await problemOf(refused)).toMatchObject({ said: '409 wrong-state', state: 'PAUSED' });
    expect(endpoint.calls).toHaveLength(1);
    endpoint.answerWith(204);
    const resumed = await admin.send('POST', `/webhooks/${webhook.id}/resume`);
    expect(await resumed.json()).toMatchObject({ id: webhook.id, state: 'ACTIVE' });
    await endpoint.called(3);
    expect(new Set(endpoint.calls.map(({ event }) => event.id)).size).toBe(2);
  });
});

describe('a delivery', () => {
  it('is retried with growing back-off for a day, then fails and pauses its webhook', {
    timeout: 60_000,
  }, async () => {
    const shifted = await startTestInstance();
    onTestFinished(() => shifted.stop());
    const root = await signIn(shifted, 'admin');
    const endpoint = await startEndpoint();
    endpoint.answerWith(503);
    const webhook = await subscribe(root, endpoint.url);
    await createKey(shifted, 'published as key.created');
    const waits = [5, 30, 120, 600, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600];
    let shiftMs = 0;
    /** What metrics say of this webhook. */
    const expectBacklog = async (rows: number, seconds: number) => {
      const metrics = await shifted.metrics();
      const of = `{service="webhooks",webhook="${webhook.id}"}`;
      expect(metrics).toContain(`accord_webhook_backlog${of} ${rows}\n`);
      const [, age] = metrics.split(`accord_webhook_backlog_age_seconds${of} `);
      expect(Number.parseFloat(age ?? '')).toBeGreaterThanOrEqual(seconds);
    };
    for (const [index, wait] of waits.entries()) {
      // The attempt is recorded when the next one is in the future.
      const failedAgain = (delivery: LiveDelivery) =>
        triedTimes(index + 1)(delivery) && waitOf(delivery, shiftMs) > 1;
      const failed = await deliveryThat(root, webhook, failedAgain);
      if (index === 2) await expectBacklog(1, shiftMs / 1000);
      const waiting = waitOf(failed, shiftMs);
      expect(waiting, `after attempt ${index + 1}`).toBeGreaterThan(wait * 0.9 - 5);
      expect(waiting, `after attempt ${index + 1}`).toBeLessThanOrEqual(wait * 1.1 + 1);
      shiftMs += waiting * 1000 + 500;
      await letTimePass(shifted, `${Math.ceil(shiftMs)} milliseconds`, 'webhooks');
      // The waits of an endpoint go by the real clock.
      await runInDatabase(shifted, 'UPDATE webhooks.webhooks SET next_at = now()');
    }
    const givenUp = await deliveryThat(root, webhook, ({ status }) => status === 'FAILED');
    expect(givenUp).toMatchObject({ attempts: waits.length + 1, statusCode: 503 });
    expect(shiftMs).toBeGreaterThan(20 * 3_600_000);
    expect(shiftMs).toBeLessThan(25 * 3_600_000);
    expect(await webhookOf(root, webhook)).toMatchObject({
      state: 'PAUSED',
      lastError: { reason: 'The endpoint responded with 503.', statusCode: 503 },
    });
    expect(new Set(endpoint.calls.map(({ message }) => message)).size).toBe(1);
    const metrics = await shifted.metrics();
    expect(metrics).toMatch(/accord_delivery_attempts_total\{kind="webhook",outcome="given-up"\} 1/);
    // Paused.
    expect(metrics).not.toContain(`webhook="${webhook.id}"`);
  });

  it('can be repeated with the same webhook-id', async () => {
    const { endpoint, webhook } = await subscribed();
    await publishEvent();
    const made = await deliveryThat(admin, webhook, ({ status }) => status === 'DELIVERED');
    const again = await admin.send('POST', `/webhooks/${webhook.id}/deliveries/${made.id}/redeliver`);
    expect(again.status).toBe(202);
    const redelivery = (await again.json()) as LiveDelivery;
    expect(redelivery).toMatchObject({ redelivery: true, action: 'key.created', sourceId: made.sourceId });
    expect(redelivery.id).not.toBe(made.id);
    const [first, second] = await endpoint.called(2);
    expect(second?.message).toBe(first?.message);
    await deliveryThat(admin, webhook, ({ id, status }) => id === redelivery.id && status === 'DELIVERED');
    const unknown = await admin.send('POST', `/webhooks/${webhook.id}/deliveries/${webhook.id}/redeliver`);
    expect(await problemOf(unknown)).toMatchObject({ said: '404 not-found' });
  });

  it('is signed with the new secret and, for a day, with the former one', async () => {
    const { endpoint, webhook } = await subscribed();
    const renewed = await admin.send('POST', `/webhooks/${webhook.id}/secret`);
    const next = (await renewed.json()) as { secret: string };
    expect(next.secret).not.toBe(webhook.secret);
    await publishEvent();
    const [call] = await endpoint.called(1);
    for (const each of [webhook, next]) expect(verify(each, call as never)).toBeTruthy();
    await runInDatabase(instance, `UPDATE webhooks.webhooks SET former_until = now() WHERE id = $1`, [
      webhook.id,
    ]);
    await publishEvent();
    const [, later] = await endpoint.called(2);
    expect(verify(next, later as never)).toBeTruthy();
    expect(() => verify(webhook, later as never)).toThrow('No matching signature');
  });
});
