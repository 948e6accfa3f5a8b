import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import {
  type DistributedInstance,
  startDistributedInstance,
} from '../support/instances/distributed-instance.ts';
import { complete, often, problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';
import { deliveriesOf, startEndpoint, subscribe, verify } from '../support/instances/webhook-endpoint.ts';
import { patience } from '../support/run/patience.ts';
import { brokers } from '../support/stores/kafka.ts';

const locales = path.join(import.meta.dirname, '..', '..', 'examples', 'locales');

describe.runIf(brokers)('two replicas of every service behind a prefix router', () => {
  let instance: DistributedInstance;
  let operator: Caller;
  beforeAll(async () => {
    instance = await startDistributedInstance({
      kafkaBrokers: brokers as string,
      environmentOf: {
        webhooks: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' },
        forms: { LOCALES_DIR: locales },
        auth: { LOCALES_DIR: locales },
      },
    });
    operator = await signIn(instance, 'operator');
  }, 120_000);
  afterAll(() => instance?.stop());

  it('take a consent on its whole way, in JSON', async () => {
    const made = await createTransaction(operator);
    const subject = subjectOf(instance, made);
    const form = await subject.form();
    expect(form.elements.map(({ entry }) => entry.key)).toEqual([
      'processing.001',
      'processing.002',
      'preference.001',
    ]);
    expect((await transactionIn(subject.submit())).state).toBe('COMMITTED');
    expect((await subject.submit()).status, 'the same answers again').toBe(200);
    const records = await recordsOf(operator, made.subject);
    expect(Object.keys(records).sort()).toEqual(['preference.001', 'processing.001', 'processing.002']);
    const receipt = await operator.get(`/receipts/${made.id}`);
    expect(await receipt.json()).toMatchObject({ subject: made.subject });
  });

  it('export models, page by page', async () => {
    const admin = await signIn(instance, 'admin');
    const keys: string[] = [];
    let next = '';
    do {
      const query = `?exportId=${randomUUID()}&limit=3${next && `&cursor=${next}`}`;
      const page = await admin.get(`/records/export/models${query}`);
      expect(page.status).toBe(200);
      const body = (await page.json()) as { values: { key: string }[]; next?: string; signature: string };
      expect(body.signature).toMatch(/^ey/);
      keys.push(...body.values.map(({ key }) => key));
      next = body.next ?? '';
    } while (next);
    expect(keys).toContain('processing.001');
    expect(keys).toHaveLength(new Set(keys).size);
  });

  it('take a consent on its whole way, in a browser without JavaScript', async () => {
    const subject = subjectOf(instance, await createTransaction(operator, { language: 'fr' }));
    const page = await (await subject.get('/submit', 'text/html')).text();
    expect(page).toContain('<html lang="fr"');
    const posted = await subject.submitForm({ ...complete, [often]: ['Une fois par mois'] });
    expect(posted.status).toBe(303);
    const final = await instance.fetch(posted.headers.get('location') ?? '', {
      headers: { Accept: 'text/html' },
    });
    expect(await final.text()).toContain('data-state="COMMITTED"');
  });

  it('speak a language that the organisation adds, whatever page it is', async () => {
    const made = await createTransaction(operator, { language: 'ca' });
    const subject = subjectOf(instance, made);
    expect(await (await subject.get('/submit', 'text/html')).text()).toContain(
      'Segons el dret que li sigui aplicable',
    );
    await subject.submit();
    const receipt = await instance.fetch(`/receipts/${made.id}?t=${made.token}`, {
      headers: { Accept: 'text/plain' },
    });
    expect(await receipt.text()).toContain('Justificant de consentiment');
    const refused = await fetch(`${instance.url}/auth/nowhere`, {
      headers: { Accept: 'text/html', 'Accept-Language': 'ca' },
    });
    expect(await refused.text()).toContain('S’ha produït un error');
  });

  it('make one transaction of 40 equal requests at once', async () => {
    const context = { subject: 'equal', layout: 'layout.001' };
    const all = await Promise.all(
      Array.from({ length: 40 }, () => operator.send('POST', '/consents', context).then(transactionIn)),
    );
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  });

  it('call a webhook once for every consent', async () => {
    const endpoint = await startEndpoint();
    const webhook = await subscribe(operator, endpoint.url, ['consent.created']);
    const made = await Promise.all(Array.from({ length: 20 }, () => createTransaction(operator)));
    await endpoint.called(made.length, 20_000);
    const told = endpoint.calls.map((call) => (verify(webhook, call) as { subject: string }).subject);
    expect(told.sort()).toEqual(made.map(({ id }) => id).sort());
    await vi.waitFor(async () => {
      const deliveries = await deliveriesOf(operator, webhook);
      expect(deliveries.map(({ status, attempts }) => `${status} ${attempts}`)).toEqual(
        made.map(() => 'DELIVERED 1'),
      );
    }, patience);
    await operator.send('DELETE', `/webhooks/${webhook.id}`);
  });

  it('pass on problems of other services', async () => {
    const refused = await operator.send('POST', '/consents', { subject: 'x', layout: 'no.such.layout' });
    const problem = await problemOf(refused);
    expect(problem.said).toBe('422 unknown-element');
    expect(problem.instance).toBe('/consents');
    expect(problem.type).toBe(`${instance.url}/docs/problems/unknown-element`);
  });

  it('refuse a revoked key within 5 seconds, each of them', async () => {
    const [admin, key] = [await signIn(instance, 'admin'), await createKey(instance)];
    const transactions = instance.replicas.filter(({ service }) => service === 'transactions');
    const ask = () =>
      Promise.all(
        transactions.map(({ url }) =>
          fetch(`${url}/transactions`, { headers: key.headers }).then(({ status }) => status),
        ),
      );
    expect(await ask()).toEqual([200, 200]);
    expect((await admin.send('DELETE', `/keys/${key.id}`)).status).toBe(204);
    const revoked = performance.now();
    await expect.poll(ask, { timeout: 5_000, interval: 50 }).toEqual([401, 401]);
    // Far less than what is remembered without the event: it has come by Kafka.
    expect(performance.now() - revoked).toBeLessThan(4_000);
  });

  it('log a request under one id in every service', async () => {
    const id = `trace-${Date.now()}`;
    const context = { subject: 'traced', layout: 'layout.001' };
    await operator.send('POST', '/consents', context, { 'X-Request-Id': id });
    const servicesThatKnow = () => {
      const lines = instance
        .logs()
        .split('\n')
        .filter((line) => line.includes(`"requestId":"${id}"`));
      return [...new Set(lines.map((line) => JSON.parse(line).service))].sort();
    };
    await expect.poll(servicesThatKnow).toEqual(['auth', 'forms', 'transactions']);
  });

  it('serve probes and metrics only on the internal port', async () => {
    for (const { service, url, internalUrl } of instance.replicas) {
      for (const path of ['/livez', '/readyz'])
        expect((await fetch(internalUrl + path)).status, `${service} ${path}`).toBe(200);
      expect(await (await fetch(`${internalUrl}/metrics`)).text()).toContain('accord_outbox_rows');
      expect((await fetch(`${url}/metrics`)).status).toBe(404);
      expect((await fetch(`${url}/internal/${service}/introspect`, { method: 'POST' })).status).toBe(404);
      const asked = await fetch(`${internalUrl}/internal/${service}/introspect`, {
        method: 'POST',
        body: '{}',
      });
      expect([401, 404]).toContain(asked.status);
    }
  });
});
