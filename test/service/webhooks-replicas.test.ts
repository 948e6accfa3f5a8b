import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { createAcknowledgementLinks } from '../../services/webhooks/domain/acknowledgement.ts';
import { createDeliveryJob } from '../../services/webhooks/jobs/webhook-deliveries.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import {
  deliveriesOf,
  deliveryThat,
  startEndpoint,
  subscribe,
} from '../support/instances/webhook-endpoint.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { patience } from '../support/run/patience.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

/** The delivery job of another replica of an instance. */
function startReplica({ databaseUrl, secrets, url }: TestInstance) {
  const log = createLogger({ level: 'silent' });
  const pool = createPool({ url: databaseUrl, schema: 'webhooks', log });
  const outbound = createOutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  const job = createDeliveryJob({
    db: createDatabase({ pool }),
    outbound,
    log,
    secrets: createSecretBox(secrets.webhookSealing, 'accord webhook secrets'),
    links: createAcknowledgementLinks(secrets.webhookSealing, url),
    source: url,
    wakeRelay: () => {},
  });
  job.start();
  onTestFinished(async () => {
    await job.stop();
    await pool.end();
  });
}

describe('replicas of the webhooks service', () => {
  it('deliver each event once and respect the concurrency limit of the endpoint', async () => {
    const instance = await startTestInstance();
    onTestFinished(() => instance.stop());
    const admin = await signIn(instance, 'admin');
    for (let count = 0; count < 2; count += 1) startReplica(instance);
    const endpoint = await startEndpoint();
    let now = 0;
    let most = 0;
    endpoint.answer = (_request, response) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        response.writeHead(204).end();
      }, 20);
    };
    const webhook = await subscribe(admin, endpoint.url, ['consent.created']);
    const contexts = Array.from({ length: 60 }, (_, index) => ({
      subject: `s${index}`,
      layout: 'layout.001',
    }));
    for (const context of contexts) await admin.send('POST', '/consents', context);
    await endpoint.called(60);
    await vi.waitFor(async () => {
      const deliveries = (await (await admin.get(`/webhooks/${webhook.id}/deliveries?limit=200`)).json()) as {
        status: string;
        attempts: number;
      }[];
      expect(deliveries.map(({ status, attempts }) => `${status} ${attempts}`)).toEqual(
        contexts.map(() => 'DELIVERED 1'),
      );
    }, patience);
    expect(endpoint.calls).toHaveLength(60);
    expect(new Set(endpoint.calls.map(({ event }) => event.id)).size).toBe(60);
    expect(new Set(endpoint.calls.map(({ message }) => message)).size).toBe(60);
    expect(most).toBeLessThanOrEqual(12);
  }, 30_000);
});

/** A process that waits for the response to its only delivery. */
async function startWithPendingDelivery() {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const settings = { DATABASE_URL: database.url, DATA_DIR: await temporaryFolder() };
  const process = startStandalone(settings);
  const url = await process.ready;
  const admin = await signIn(reach(url), 'admin');
  const endpoint = await startEndpoint();
  endpoint.answer = () => {};
  const webhook = await subscribe(admin, endpoint.url);
  await createKey(reach(url));
  await endpoint.called(1);
  return { process, settings, endpoint, webhook, running: { url, databaseUrl: database.url } };
}

const reach = (url: string) => ({
  url,
  fetch: (path: string, init?: RequestInit) => fetch(new URL(path, url), init),
});

describe('SIGTERM during a delivery', () => {
  it('aborts the delivery and releases it to other replicas before the process exits', async () => {
    const { process, running } = await startWithPendingDelivery();
    expect(await process.stop()).toMatchObject({ code: 0, errors: '' });
    expect(
      await rowsOf(
        running,
        'SELECT w.lease_until, d.attempts, d.status FROM webhooks.deliveries AS d JOIN webhooks.webhooks AS w ON w.id = d.webhook',
      ),
    ).toEqual([{ lease_until: null, attempts: 0, status: 'PENDING' }]);
  });
});

describe('SIGKILL during a delivery', () => {
  it('repeats the delivery with the same webhook-id', async () => {
    const { process, settings, endpoint, webhook, running } = await startWithPendingDelivery();
    await process.kill();
    endpoint.answerWith(204);
    const second = startStandalone(settings);
    onTestFinished(async () => void (await second.stop()));
    const again = await signIn(reach(await second.ready), 'admin');
    const [lease] = await rowsOf<{ seconds: number }>(
      running,
      `SELECT extract(epoch FROM lease_until - now())::float8 AS seconds FROM webhooks.webhooks`,
    );
    expect(lease?.seconds).toBeLessThan(40);
    // Expires the lease at once.
    await runInDatabase(running, 'UPDATE webhooks.webhooks SET lease_until = now()');
    const [before, after] = await endpoint.called(2);
    expect(after?.message).toBe(before?.message);
    expect(after?.body).toBe(before?.body);
    await deliveryThat(again, webhook, ({ status }) => status === 'DELIVERED');
    expect(await deliveriesOf(again, webhook)).toHaveLength(1);
  }, 60_000);
});
