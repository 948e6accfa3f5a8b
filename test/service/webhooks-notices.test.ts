import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createOldDeliverySweeper } from '../../services/webhooks/jobs/delete-old.ts';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import {
  acknowledge,
  addRecipient,
  recipientIn,
  recipientsOf,
  withdrawNew,
} from '../support/instances/live-recipients.ts';
import { deliveriesOf, startEndpoint, webhookOf } from '../support/instances/webhook-endpoint.ts';
import { patience } from '../support/run/patience.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

/** Deletes what is old, as the service does every five minutes. */
async function sweep(): Promise<void> {
  const log = createLogger({ level: 'silent' });
  const pool = createPool({ url: instance.databaseUrl, schema: 'webhooks', log });
  const parts = { db: createDatabase({ pool }), log, source: instance.url, wakeRelay: () => {} };
  await createOldDeliverySweeper(parts).runOnce();
  await pool.end();
}

/** Has the service webhooks publish an event about a notice. */
const publish = (data: { transaction: string; state: string }) =>
  runInDatabase(
    instance,
    `INSERT INTO webhooks.outbox (event_id, topic, key, event)
     SELECT e.id, 'accord.notices', $1::text, jsonb_build_object('id', e.id, 'source', $2::text, 'subject', $1::text,
       'type', 'io.accord.notice.' || lower($3::text) || '.v1', 'time', now(), 'data', $4::jsonb)
       FROM (SELECT gen_random_uuid() AS id) AS e`,
    [data.transaction, instance.url, data.state, data],
  );

describe('the notice of a withdrawal', () => {
  it('contains nothing personal on its way, and is one for several events of a transaction', async () => {
    const endpoint = await startEndpoint();
    const webhook = await addRecipient(shop, endpoint.url, { acknowledgeWithin: 'P1D' });
    await runInDatabase(
      instance,
      `CREATE TABLE webhooks.kept_events AS SELECT event FROM webhooks.outbox WITH NO DATA;
       CREATE FUNCTION webhooks.keep_event() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO webhooks.kept_events SELECT NEW.event; RETURN NEW; END $$;
       CREATE TRIGGER keep_event AFTER INSERT ON webhooks.outbox FOR EACH ROW EXECUTE FUNCTION webhooks.keep_event()`,
    );
    const withdrawal = await withdrawNew(shop);
    const [call] = await endpoint.called(1);
    await recipientIn(shop, withdrawal, 'DELIVERED');
    // As if the withdrawal had more than 50 consents.
    await runInDatabase(
      instance,
      `INSERT INTO transactions.outbox (event_id, topic, key, event)
       SELECT e.id, 'accord.consents', $1, jsonb_build_object('id', e.id, 'type', 'io.accord.consent.withdrawn.v1',
         'source', $2::text, 'subject', $1::text, 'time', now(), 'data', $3::jsonb)
         FROM (SELECT gen_random_uuid() AS id) AS e`,
      [withdrawal.id, instance.url, { ...call?.event.data, acknowledge: undefined }],
    );
    const calls = await endpoint.called(2, patience.timeout);
    await recipientIn(shop, withdrawal, 'DELIVERED');
    await runInDatabase(instance, "UPDATE webhooks.notices SET state = 'OVERDUE'");
    expect((await acknowledge(calls[0]?.event.data.acknowledge)).status).toBe(204);
    // OVERDUE and in the alert until both are acknowledged.
    expect(await rowsOf(instance, 'SELECT state FROM webhooks.notices')).toEqual([{ state: 'OVERDUE' }]);
    expect((await acknowledge(calls[1]?.event.data.acknowledge)).status).toBe(204);
    await recipientIn(shop, withdrawal, 'ACKNOWLEDGED');
    expect(await recipientsOf(shop, withdrawal)).toHaveLength(1);
    const events = await rowsOf<{ event: { type: string } }>(
      instance,
      'SELECT event FROM webhooks.kept_events',
    );
    expect(events.at(-1)?.event).toEqual({
      id: expect.any(String),
      type: 'io.accord.notice.acknowledged.v1',
      source: instance.url,
      subject: withdrawal.id,
      time: expect.any(String),
      requestid: expect.any(String),
      data: {
        transaction: withdrawal.id,
        recipient: webhook.id,
        name: 'Letters Ltd',
        state: 'ACKNOWLEDGED',
        version: expect.any(Number),
        since: expect.any(String),
        outcome: 'done',
      },
    });
    expect(JSON.stringify(events)).not.toContain(withdrawal.subject);
  });

  it('ends as FAILED if the delivery cannot happen any more', async () => {
    const endpoint = await startEndpoint();
    endpoint.answerWith(410);
    const webhook = await addRecipient(shop, endpoint.url, { acknowledgeWithin: 'P1D' });
    const withdrawal = await withdrawNew(shop);
    await vi.waitFor(
      async () => expect(await webhookOf(shop, webhook)).toMatchObject({ state: 'PAUSED' }),
      patience,
    );
    await recipientIn(shop, withdrawal, 'QUEUED');
    // The ninth attempt is the last.
    await runInDatabase(instance, 'UPDATE webhooks.deliveries SET attempts = 8 WHERE webhook = $1', [
      webhook.id,
    ]);
    endpoint.answerWith(500);
    await runInDatabase(instance, `UPDATE webhooks.webhooks SET state = 'ACTIVE' WHERE id = $1`, [
      webhook.id,
    ]);
    await recipientIn(shop, withdrawal, 'FAILED');
    onTestFinished(() => letTimePass(instance, '0 hours', 'webhooks'));
    await letTimePass(instance, '25 hours', 'webhooks');
    const [delivery] = await deliveriesOf(shop, webhook);
    endpoint.answerWith(204);
    await shop.send('POST', `/webhooks/${webhook.id}/deliveries/${delivery?.id}/redeliver`);
    await recipientIn(shop, withdrawal, 'DELIVERED');
    // The period has passed before the delivery, which begins it again.
    expect(
      await rowsOf(
        instance,
        'SELECT due > webhooks.accord_now() AS open FROM webhooks.notices WHERE webhook = $1',
        [webhook.id],
      ),
    ).toEqual([{ open: true }]);
  });

  it('is OVERDUE while the recipient is away, shows in the metrics, and begins again with a late delivery', async () => {
    const overdue = async () =>
      Number(/^accord_notices_overdue{service="webhooks"} (.*)$/m.exec(await instance.metrics())?.[1]);
    const endpoint = await startEndpoint();
    endpoint.answerWith(503);
    const webhook = await addRecipient(shop, endpoint.url, { acknowledgeWithin: 'PT24H' });
    onTestFinished(() => letTimePass(instance, '0 hours', 'webhooks'));
    const withdrawal = await withdrawNew(shop);
    await endpoint.called(1);
    expect(await overdue()).toBe(0);
    // The failure is recorded after the endpoint was called.
    await vi.waitFor(
      async () => expect(await webhookOf(shop, webhook)).toHaveProperty('failingSince'),
      patience,
    );
    await letTimePass(instance, '25 hours', 'webhooks');
    await recipientIn(shop, withdrawal, 'OVERDUE');
    expect(await overdue()).toBe(1);
    // An endpoint that fails for so long is paused.
    await vi.waitFor(
      async () => expect(await webhookOf(shop, webhook)).toMatchObject({ state: 'PAUSED' }),
      patience,
    );
    endpoint.answerWith(204);
    await shop.send('POST', `/webhooks/${webhook.id}/resume`);
    await recipientIn(shop, withdrawal, 'DELIVERED');
    expect(await overdue()).toBe(0);
    await letTimePass(instance, '51 hours', 'webhooks');
    await recipientIn(shop, withdrawal, 'OVERDUE');
  });

  it('ends as FAILED if the webhook is deleted before the delivery, and stays known', async () => {
    const endpoint = await startEndpoint();
    endpoint.answerWith(503);
    const webhook = await addRecipient(shop, endpoint.url);
    const withdrawal = await withdrawNew(shop);
    await recipientIn(shop, withdrawal, 'QUEUED');
    await shop.send('DELETE', `/webhooks/${webhook.id}`);
    await sweep();
    await recipientIn(shop, withdrawal, 'FAILED');
    onTestFinished(() => letTimePass(instance, '0 hours', 'webhooks'));
    await letTimePass(instance, '91 days', 'webhooks');
    await sweep();
    expect(await rowsOf(instance, 'SELECT name FROM webhooks.notices')).toEqual([]);
    await recipientIn(shop, withdrawal, 'FAILED');
  });

  it('is stored whatever the order of its events', async () => {
    const endpoint = await startEndpoint();
    const webhook = await addRecipient(shop, endpoint.url);
    const withdrawal = await withdrawNew(shop);
    await recipientIn(shop, withdrawal, 'DELIVERED');
    const about = { transaction: withdrawal.id, recipient: webhook.id, name: 'Letters Ltd' };
    const since = new Date().toISOString();
    await publish({
      ...about,
      transaction: 'unknownunknownunknown',
      state: 'FAILED',
      version: 1,
      since,
    } as never);
    await publish({ ...about, state: 'FAILED', version: 1, since } as never);
    const other = { ...about, recipient: crypto.randomUUID(), name: 'Zeta Ltd', version: 1, since };
    await publish({ ...other, state: 'OVERDUE' });
    // Its events have one key, so the last one is applied when all others were.
    await vi.waitFor(async () => expect(await recipientsOf(shop, withdrawal)).toHaveLength(2), patience);
    const states = (await recipientsOf(shop, withdrawal)).map(({ state }) => state);
    expect(states).toEqual(['DELIVERED', 'OVERDUE']);
    expect(await rowsOf(instance, 'SELECT reason FROM transactions.dead_letters')).toEqual([]);
  });
});
