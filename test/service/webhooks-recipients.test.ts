import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import {
  acknowledge,
  addRecipient,
  type LiveRecipient,
  recipientIn,
  recipientsOf,
  withdrawNew,
} from '../support/instances/live-recipients.ts';
import { letter, study } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import {
  deliveriesOf,
  deliveryThat,
  startEndpoint,
  webhookOf,
} from '../support/instances/webhook-endpoint.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { patience } from '../support/run/patience.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const operator = useSetup(() => signIn(instance, 'operator'));

describe('a recipient', () => {
  it('that was away is told when it is back, acknowledges, and the person sees it', async () => {
    const endpoint = await startEndpoint();
    endpoint.answerWith(503);
    const webhook = await addRecipient(shop, endpoint.url, { acknowledgeWithin: 'P2D' });
    const withdrawal = await withdrawNew(shop);
    await endpoint.called(1);
    const { name, kind } = await recipientIn(shop, withdrawal, 'QUEUED');
    expect({ name, kind }).toEqual({ name: 'Letters Ltd', kind: 'RECIPIENT' });

    endpoint.answerWith(204);
    const [waiting] = await deliveriesOf(shop, webhook);
    await shop.send('POST', `/webhooks/${webhook.id}/deliveries/${waiting?.id}/redeliver`);
    await recipientIn(shop, withdrawal, 'DELIVERED');
    const [failed, delivered] = endpoint.calls;
    expect(delivered?.body).toBe(failed?.body);
    const { data } = delivered?.event ?? {};
    expect(data.acknowledge).toMatch(
      new RegExp(
        `^${instance.url}/webhooks/${webhook.id}/deliveries/${delivered?.message}/acknowledge\\?t=.{43}$`,
      ),
    );
    expect((await fetch(data.acknowledge)).status).toBe(405);
    const { acknowledge: _, ...shown } = data;
    const read = await shop.get(`/webhooks/${webhook.id}/deliveries/${waiting?.id}`);
    expect(JSON.parse(((await read.json()) as { body: string }).body).data).toEqual(shown);
    await recipientIn(shop, withdrawal, 'DELIVERED');

    const note = 'Invoices are kept for ten years';
    expect((await acknowledge(data.acknowledge, { outcome: 'kept', note })).status).toBe(204);
    const recipient = await recipientIn(shop, withdrawal, 'ACKNOWLEDGED');
    expect(recipient).toMatchObject({ outcome: 'kept', note });
    const own = await instance.fetch(`/consents/${withdrawal.id}?t=${withdrawal.token}`);
    const seen = (await own.json()) as { recipients: LiveRecipient[] };
    expect(seen.recipients).toEqual([{ ...recipient, note: undefined }].map(({ note: _, ...rest }) => rest));
    await deliveryThat(shop, webhook, (delivery) => 'acknowledged' in delivery);
    for (const link of [withdrawal.links.subject, withdrawal.links.receipt ?? '']) {
      const page = await instance.fetch(link, { headers: { Accept: 'text/html' } });
      const text = parsePage(await page.text()).text();
      expect(text).toContain('Letters Ltd');
      expect(text).toContain('it keeps data that it may keep all the same');
      expect(text).not.toContain(note);
    }
  });

  it('acknowledges once: again is the same success, another outcome and a wrong URL are rejected', async () => {
    const endpoint = await startEndpoint();
    const webhook = await addRecipient(shop, endpoint.url, { acknowledgeWithin: 'PT1H' });
    const withdrawal = await withdrawNew(shop);
    const [call] = await endpoint.called(1);
    await recipientIn(shop, withdrawal, 'DELIVERED');
    const url: string = call?.event.data.acknowledge;
    const answers = await Promise.all(
      ['done', 'kept', 'done', 'kept'].map((outcome) => acknowledge(url, { outcome })),
    );
    const first = (await recipientIn(shop, withdrawal, 'ACKNOWLEDGED')).outcome;
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
    for (const [header, status] of Object.entries({ 'Bearer no-token': 401, 'Transaction no-token': 403 }))
      expect((await fetch(url, { method: 'POST', headers: { Authorization: header } })).status).toBe(status);
    expect((await acknowledge(url, { note: 'x'.repeat(501) })).status).toBe(422);
    expect((await acknowledge(url, { outcome: 'perhaps' })).status).toBeGreaterThanOrEqual(400);
    const rows = await rowsOf(instance, 'SELECT version FROM transactions.notices WHERE about = $1', [
      withdrawal.id,
    ]);
    expect(rows).toEqual([{ version: 3 }]);
  });

  it('that does not acknowledge in time is overdue, and can do so later', async () => {
    const endpoint = await startEndpoint();
    await addRecipient(shop, endpoint.url, { acknowledgeWithin: 'PT24H' });
    onTestFinished(() => letTimePass(instance, '0 hours', 'webhooks'));
    const withdrawal = await withdrawNew(shop);
    const [call] = await endpoint.called(1);
    await recipientIn(shop, withdrawal, 'DELIVERED');
    await letTimePass(instance, '25 hours', 'webhooks');
    await recipientIn(shop, withdrawal, 'OVERDUE');
    expect((await acknowledge(call?.event.data.acknowledge)).status).toBe(204);
    await recipientIn(shop, withdrawal, 'ACKNOWLEDGED');
  });

  it('without a period is asked for no acknowledgement', async () => {
    const endpoint = await startEndpoint();
    await addRecipient(shop, endpoint.url);
    const withdrawal = await withdrawNew(shop);
    const [call] = await endpoint.called(1);
    expect(call?.event.data).not.toHaveProperty('acknowledge');
    await recipientIn(shop, withdrawal, 'DELIVERED');
  });

  it('with elements only hears of their withdrawal; an unnamed webhook makes no notice', async () => {
    const [one, other, unnamed] = [await startEndpoint(), await startEndpoint(), await startEndpoint()];
    await addRecipient(shop, one.url, { elements: ['processing.002'] });
    await addRecipient(shop, other.url, {
      recipient: 'Study Group',
      elements: ['processing.001', 'unknown.1'],
    });
    await addRecipient(shop, unnamed.url, { recipient: '' });
    const withdrawal = await withdrawNew(shop, [letter]);
    await unnamed.called(1);
    await other.called(1);
    expect((await recipientIn(shop, withdrawal, 'DELIVERED')).name).toBe('Study Group');
    expect(await recipientsOf(shop, withdrawal)).toHaveLength(1);
    const second = await withdrawNew(shop, [letter, study]);
    await one.called(1);
    expect(one.calls.map(({ event }) => event.subject)).toEqual([second.id]);
  });

  it('of a consent that a person refuses in a new form is named on the page of that form', async () => {
    const endpoint = await startEndpoint();
    await addRecipient(shop, endpoint.url);
    const subject = 'refuses-in-a-form';
    await recordAnswers(shop, subject, { [letter]: ['accepted'] });
    const refused = await recordAnswers(
      shop,
      subject,
      { [letter]: ['refused'] },
      { attributes: { order: '2' } },
    );
    await recipientIn(shop, refused, 'DELIVERED');
    const page = await instance.fetch(refused.url, { headers: { Accept: 'text/html' } });
    expect(parsePage(await page.text()).text()).toContain('Letters Ltd');
  });

  it('of an erasure is told in all its messages, acknowledges each, and the erasure says so', async () => {
    const admin = await signIn(instance, 'admin');
    const endpoint = await startEndpoint();
    await addRecipient(admin, endpoint.url, {
      subscribedActions: ['subject.erased'],
      acknowledgeWithin: 'P2D',
    });
    const subject = 'erased-with-recipients';
    for (const object of ['one', 'two'])
      await recordAnswers(admin, subject, { [letter]: ['accepted'] }, { object });
    const started = await admin.send('POST', `/subjects/${subject}/erasure`);
    const { id } = (await started.json()) as { id: string };
    const told = (expected: object) =>
      vi.waitFor(async () => {
        const { recipients } = (await (await admin.get(`/erasures/${id}`)).json()) as {
          recipients: object[];
        };
        expect(recipients).toMatchObject([{ name: 'Letters Ltd', kind: 'RECIPIENT', ...expected }]);
      }, patience);
    const calls = await endpoint.called(2);
    await told({ state: 'DELIVERED' });
    const [first, second] = calls.map(({ event }) => event.data);
    expect(first).toMatchObject({ erasure: id, records: [expect.any(String)] });
    expect(JSON.stringify(calls)).not.toContain(subject);
    expect((await acknowledge(first.acknowledge)).status).toBe(204);
    expect((await acknowledge(second.acknowledge, { outcome: 'kept', note: 'Invoices' })).status).toBe(204);
    await told({ state: 'ACKNOWLEDGED', outcome: 'kept', note: 'Invoices' });
  });
});

it('counts guesses of the URL of an acknowledgement as failed credentials', async () => {
  const limited = await startTestInstance({ RATE_LIMITS: 'address=3' });
  onTestFinished(() => limited.stop());
  const guess = () =>
    acknowledge(
      `${limited.url}/webhooks/${crypto.randomUUID()}/deliveries/${crypto.randomUUID()}/acknowledge?t=guess`,
    );
  for (const _ of Array(3)) expect((await guess()).status).toBe(404);
  expect((await guess()).status).toBe(429);
});

describe('the settings of a recipient', () => {
  it('are shown, changed and removed', async () => {
    const webhook = await addRecipient(shop, 'http://127.0.0.1:9/hook', {
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
      subscribedActions: ['consent.withdrawn'],
      ...settings,
    });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ errors: [{ pointer }] });
  });
});
