import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { complete, letter, study, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import {
  deliveriesOf,
  deliveryThat,
  type LiveWebhook,
  startEndpoint,
  webhookOf,
} from '../support/instances/webhook-endpoint.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { patience } from '../support/run/patience.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const operator = useSetup(() => signIn(instance, 'operator'));

interface Recipient {
  name: string;
  kind: string;
  state: string;
  outcome?: string;
  note?: string;
  since: string;
}

const withdrawn = { subscribedActions: ['consent.withdrawn'] };

/** Creates a webhook of an organisation, for one test. */
async function addRecipient(targetUrl: string, more: object = {}): Promise<LiveWebhook> {
  const body = { targetUrl, ...withdrawn, recipient: 'Letters Ltd', ...more };
  const made = await shop.send('POST', '/webhooks', body);
  expect(made.status).toBe(201);
  const webhook = (await made.json()) as LiveWebhook;
  onTestFinished(async () => void (await shop.send('DELETE', `/webhooks/${webhook.id}`)));
  return webhook;
}

/** Withdraws one of two consents of a new subject. */
async function withdraw(elements = [letter]) {
  const made = await createTransaction(shop);
  const answers = { ...complete, [letter]: ['accepted'], [study]: ['accepted'] };
  expect((await subjectOf(instance, made).submit(answers)).status).toBe(200);
  const done = await transactionIn(shop.send('POST', `/consents/${made.id}/withdraw`, { elements }));
  return { ...done, subject: made.subject };
}

async function recipientsOf({ id }: { id: string }, caller: Caller = shop): Promise<Recipient[]> {
  return ((await (await caller.get(`/consents/${id}`)).json()) as { recipients: Recipient[] }).recipients;
}

const recipientIn = (withdrawal: { id: string }, state: string) =>
  vi.waitFor(async () => {
    const [recipient] = await recipientsOf(withdrawal);
    expect(recipient).toMatchObject({ state });
    return recipient as Recipient;
  }, patience);

const acknowledge = (url: string, body?: object) =>
  fetch(url, {
    method: 'POST',
    ...(body && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  });

describe('a recipient', () => {
  it('that was away is told when it is back, acknowledges, and the person sees it', async () => {
    const endpoint = await startEndpoint();
    endpoint.answerWith(503);
    const webhook = await addRecipient(endpoint.url, { acknowledgeWithin: 'P2D' });
    const withdrawal = await withdraw();
    await endpoint.called(1);
    const { name, kind } = await recipientIn(withdrawal, 'QUEUED');
    expect({ name, kind }).toEqual({ name: 'Letters Ltd', kind: 'RECIPIENT' });

    endpoint.answerWith(204);
    const [waiting] = await deliveriesOf(shop, webhook);
    await shop.send('POST', `/webhooks/${webhook.id}/deliveries/${waiting?.id}/redeliver`);
    await recipientIn(withdrawal, 'DELIVERED');
    const [failed, delivered] = endpoint.calls;
    expect(delivered?.body).toBe(failed?.body);
    const { data } = delivered?.event ?? {};
    expect(data.acknowledge).toMatch(
      new RegExp(
        `^${instance.url}/webhooks/${webhook.id}/deliveries/${delivered?.message}/acknowledge\\?t=.{43}$`,
      ),
    );
    expect((await fetch(data.acknowledge)).status).toBe(405);
    await recipientIn(withdrawal, 'DELIVERED');

    const note = 'Invoices are kept for ten years';
    expect((await acknowledge(data.acknowledge, { outcome: 'kept', note })).status).toBe(204);
    const recipient = await recipientIn(withdrawal, 'ACKNOWLEDGED');
    expect(recipient).toMatchObject({ outcome: 'kept', note });
    const own = await instance.fetch(`/consents/${withdrawal.id}?t=${withdrawal.token}`);
    const seen = (await own.json()) as { recipients: Recipient[] };
    expect(seen.recipients).toEqual([{ ...recipient, note: undefined }].map(({ note: _, ...rest }) => rest));
    await deliveryThat(shop, webhook, (delivery) => 'acknowledged' in delivery);
    for (const link of [withdrawal.links.subject, withdrawal.links.receipt ?? '']) {
      const page = await instance.fetch(link, { headers: { Accept: 'text/html' } });
      const text = parsePage(await page.text()).text();
      expect(text).toContain('Letters Ltd');
      expect(text).toContain('It keeps data that it may keep without your consent.');
      expect(text).not.toContain(note);
    }
  });

  it('acknowledges once: again is the same success, another outcome and a wrong URL are rejected', async () => {
    const endpoint = await startEndpoint();
    const webhook = await addRecipient(endpoint.url, { acknowledgeWithin: 'PT1H' });
    const withdrawal = await withdraw();
    const [call] = await endpoint.called(1);
    await recipientIn(withdrawal, 'DELIVERED');
    const url: string = call?.event.data.acknowledge;
    const answers = await Promise.all(
      ['done', 'kept', 'done', 'kept'].map((outcome) => acknowledge(url, { outcome })),
    );
    const first = (await recipientIn(withdrawal, 'ACKNOWLEDGED')).outcome;
    expect(answers.map(({ status }) => status)).toEqual(
      ['done', 'kept', 'done', 'kept'].map((outcome) => (outcome === first ? 204 : 409)),
    );
    expect((await acknowledge(url, { outcome: first })).status).toBe(204);
    if (first === 'done') expect((await acknowledge(url)).status).toBe(204);
    const wrong = [
      url.replace(/t=.*/, `t=${'A'.repeat(43)}`),
      url.replace(/\?.*/, ''),
      url.replace(`${call?.message}`, webhook.id),
      url.replace(`webhooks/${webhook.id}`, `webhooks/${call?.message}`),
    ];
    for (const other of wrong) expect((await acknowledge(other)).status, other).toBe(404);
    expect((await acknowledge(url, { note: 'x'.repeat(501) })).status).toBe(422);
    expect((await acknowledge(url, { outcome: 'perhaps' })).status).toBeGreaterThanOrEqual(400);
    const rows = await rowsOf(instance, 'SELECT version FROM transactions.notices WHERE transaction = $1', [
      withdrawal.id,
    ]);
    expect(rows).toEqual([{ version: 3 }]);
  });

  it('that does not acknowledge in time is overdue, and can do so later', async () => {
    const endpoint = await startEndpoint();
    await addRecipient(endpoint.url, { acknowledgeWithin: 'PT24H' });
    onTestFinished(() => letTimePass(instance, '0 hours', 'webhooks'));
    const withdrawal = await withdraw();
    const [call] = await endpoint.called(1);
    await recipientIn(withdrawal, 'DELIVERED');
    await letTimePass(instance, '25 hours', 'webhooks');
    await recipientIn(withdrawal, 'OVERDUE');
    expect((await acknowledge(call?.event.data.acknowledge)).status).toBe(204);
    await recipientIn(withdrawal, 'ACKNOWLEDGED');
  });

  it('without a period is asked for no acknowledgement', async () => {
    const endpoint = await startEndpoint();
    await addRecipient(endpoint.url);
    const withdrawal = await withdraw();
    const [call] = await endpoint.called(1);
    expect(call?.event.data).not.toHaveProperty('acknowledge');
    await recipientIn(withdrawal, 'DELIVERED');
  });

  it('with elements only hears of their withdrawal; an unnamed webhook makes no notice', async () => {
    const [one, other, unnamed] = [await startEndpoint(), await startEndpoint(), await startEndpoint()];
    await addRecipient(one.url, { elements: ['processing.002'] });
    await addRecipient(other.url, { recipient: 'Study Group', elements: ['processing.001', 'unknown.1'] });
    await addRecipient(unnamed.url, { recipient: '' });
    const withdrawal = await withdraw([letter]);
    await unnamed.called(1);
    await other.called(1);
    expect((await recipientIn(withdrawal, 'DELIVERED')).name).toBe('Study Group');
    expect(await recipientsOf(withdrawal)).toHaveLength(1);
    const second = await withdraw([letter, study]);
    await one.called(1);
    expect(one.calls.map(({ event }) => event.subject)).toEqual([second.id]);
  });
});

describe('the notice of a withdrawal', () => {
  it('contains nothing personal on its way, and is one for several events of a transaction', async () => {
    const endpoint = await startEndpoint();
    const webhook = await addRecipient(endpoint.url, { acknowledgeWithin: 'P1D' });
    await runInDatabase(
      instance,
      `CREATE TABLE webhooks.kept_events AS SELECT event FROM webhooks.outbox WITH NO DATA;
       CREATE FUNCTION webhooks.keep_event() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN INSERT INTO webhooks.kept_events SELECT NEW.event; RETURN NEW; END $$;
       CREATE TRIGGER keep_event AFTER INSERT ON webhooks.outbox FOR EACH ROW EXECUTE FUNCTION webhooks.keep_event()`,
    );
    const withdrawal = await withdraw();
    const [call] = await endpoint.called(1);
    await recipientIn(withdrawal, 'DELIVERED');
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
    await recipientIn(withdrawal, 'DELIVERED');
    expect((await acknowledge(calls[0]?.event.data.acknowledge)).status).toBe(204);
    await recipientIn(withdrawal, 'DELIVERED');
    expect((await acknowledge(calls[1]?.event.data.acknowledge)).status).toBe(204);
    await recipientIn(withdrawal, 'ACKNOWLEDGED');
    expect(await recipientsOf(withdrawal)).toHaveLength(1);
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
    const webhook = await addRecipient(endpoint.url, { acknowledgeWithin: 'P1D' });
    const withdrawal = await withdraw();
    await vi.waitFor(
      async () => expect(await webhookOf(shop, webhook)).toMatchObject({ state: 'PAUSED' }),
      patience,
    );
    await recipientIn(withdrawal, 'QUEUED');
    // The ninth attempt is the last.
    await runInDatabase(instance, 'UPDATE webhooks.deliveries SET attempts = 8 WHERE webhook = $1', [
      webhook.id,
    ]);
    endpoint.answerWith(500);
    await runInDatabase(instance, `UPDATE webhooks.webhooks SET state = 'ACTIVE' WHERE id = $1`, [
      webhook.id,
    ]);
    await recipientIn(withdrawal, 'FAILED');
    const [delivery] = await deliveriesOf(shop, webhook);
    endpoint.answerWith(204);
    await shop.send('POST', `/webhooks/${webhook.id}/deliveries/${delivery?.id}/redeliver`);
    await recipientIn(withdrawal, 'DELIVERED');
  });
});

describe('the settings of a recipient', () => {
  it('are shown, changed and removed', async () => {
    const webhook = await addRecipient('http://127.0.0.1:9/hook', {
      elements: ['processing.001', 'processing.001'],
      acknowledgeWithin: 'p2d',
    });
    const shown = { recipient: 'Letters Ltd', elements: ['processing.001'], acknowledgeWithin: 'P2D' };
    expect(await webhookOf(operator, webhook)).toMatchObject(shown);
    const change = (body: object) => operator.send('PUT', `/webhooks/${webhook.id}`, body);
    expect(await (await change({ name: 'Other' })).json()).toMatchObject({ ...shown, name: 'Other' });
    expect((await change({ recipient: '' })).status).toBe(422);
    const cleared = await (await change({ recipient: '', elements: [], acknowledgeWithin: '' })).json();
    for (const name of Object.keys(shown)) expect(cleared).not.toHaveProperty(name);
  });

  it.each([
    ['/acknowledgeWithin', { recipient: 'A', acknowledgeWithin: 'P31D' }],
    ['/acknowledgeWithin', { recipient: 'A', acknowledgeWithin: 'soon' }],
    ['/acknowledgeWithin', { recipient: 'A', acknowledgeWithin: '-PT1H' }],
    ['/acknowledgeWithin', { acknowledgeWithin: 'P1D' }],
    ['/elements/0', { elements: ['a b'] }],
    ['/recipient', { recipient: 'x'.repeat(256) }],
  ])('are rejected with a pointer to %s: %j', async (pointer, settings) => {
    const answer = await shop.send('POST', '/webhooks', {
      targetUrl: 'http://127.0.0.1:9/hook',
      ...withdrawn,
      ...settings,
    });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ errors: [{ pointer }] });
  });
});
