import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { carriedEvents, createTopicLog } from '../chaos/kafka/topic-log.ts';
import { startLocalKafka } from '../infrastructure/kafka.ts';
import type { LocalServer } from '../infrastructure/local-server.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import {
  type DistributedInstance,
  type Replica,
  startDistributedInstance,
} from '../support/instances/distributed-instance.ts';
import { subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { until } from '../support/run/until.ts';
import { brokers, ownKafka } from '../support/stores/kafka.ts';
import { startTestRedis } from '../support/stores/redis.ts';

/** Of all replicas together; each of two allows half of it while Redis is down. */
const limits = { address: 20, user: 40 };

describe.runIf(brokers)('two replicas of every service while Kafka and Redis are down', () => {
  let kafka: LocalServer;
  let redis: LocalServer | null;
  let instance: DistributedInstance;
  let operator: Caller;
  let user: Caller;
  let admin: Caller;
  let transactions: Replica[];
  /** Transactions that were answered meanwhile. */
  const answered: string[] = [];
  beforeAll(async () => {
    // A broker that faults are done to is nobody else's.
    kafka = ownKafka ?? (await startLocalKafka());
    redis = await startTestRedis();
    instance = await startDistributedInstance({
      kafkaBrokers: kafka.address,
      ...(redis && { redisUrl: redis.address }),
      environment: { RATE_LIMITS: `key=6000,transaction=60,address=${limits.address},user=${limits.user}` },
    });
    operator = await signIn(instance, 'operator');
    user = await signIn(instance, 'user');
    admin = await signIn(instance, 'admin');
    transactions = instance.replicas.filter(({ service }) => service === 'transactions');
    await Promise.all([kafka.kill(), redis?.kill()]);
  }, 120_000);
  afterAll(async () => {
    await instance?.stop();
    await redis?.stop();
    if (!ownKafka) await kafka?.stop();
  });

  /** A person gets a form and answers it. */
  async function answer(): Promise<void> {
    const made = await createTransaction(operator);
    const subject = subjectOf(instance, made);
    expect((await subject.get('/submit', 'text/html')).status).toBe(200);
    expect((await subject.submit()).status).toBe(200);
    answered.push(made.id);
  }

  /** How many requests each replica allows before it is one too many. */
  const allowedBy = (headers: Record<string, string>, path: string) =>
    Promise.all(
      transactions.map(async ({ url }) => {
        for (let allowed = 0; ; allowed += 1) {
          const response = await fetch(url + path, { headers });
          if (response.status !== 429) continue;
          expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
          return allowed;
        }
      }),
    );

  it('let people answer their forms', async () => {
    for (let person = 0; person < 10; person += 1) await answer();
  });

  it('show people their choices', async () => {
    const made = await createTransaction(operator);
    expect((await subjectOf(instance, made).submit()).status).toBe(200);
    answered.push(made.id);
    const opened = await operator.send('POST', '/choices', { subject: made.subject });
    const { url } = (await opened.json()) as { url: string };
    const page = await fetch(url, { headers: { Accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<h1>My choices</h1>');
  });

  it('take over answers of another system', async () => {
    const file = path.join(await temporaryFolder(), 'rows.ndjson');
    const rows = Array.from({ length: 450 }, (_, number) => ({
      subject: `moved ${number}`,
      element: 'processing.001',
      serial: '1.0',
      answer: ['accepted'],
      given: '2024-05-01',
      source: 'Old',
      sourceId: `${number}`,
    }));
    await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'));
    const env = {
      ACCORD_URL: instance.url,
      ACCORD_TOKEN: String(admin.headers.Authorization).slice('Bearer '.length),
    };
    expect(await runCommand('services/import.ts', [file], { env })).toMatchObject({
      code: 0,
      output: '450 rows: 450 created, 0 unchanged, 0 rejected.\n',
    });
    expect((await runCommand('services/import.ts', [file], { env })).output).toContain('450 unchanged');
  });

  it('allow a stranger and an account no more than their limits, each replica its share', async () => {
    expect(await allowedBy({ CM_KEY: 'wrong' }, '/transactions')).toEqual([
      limits.address / 2,
      limits.address / 2,
    ]);
    expect(await allowedBy(user.headers, '/records?subject=user')).toEqual([
      limits.user / 2,
      limits.user / 2,
    ]);
    await answer();
  });

  it('hold back the responses to a stranger who asks without pause, while people answer', async () => {
    let isOver = false;
    onTestFinished(() => {
      isOver = true;
    });
    const [{ url, internalUrl }] = transactions as [Replica];
    const repeat = async () => {
      while (!isOver) await fetch(`${url}/nothing`).then((response) => response.arrayBuffer());
    };
    const strangers = Array.from({ length: 8 }, repeat);
    const held = async () => {
      const metrics = await (await fetch(`${internalUrl}/metrics`)).text();
      return Number(/^accord_http_held_total(?:\{.*\})? (\d+)/m.exec(metrics)?.[1] ?? 0);
    };
    await until(async () => {
      await answer();
      expect(await held()).toBeGreaterThan(0);
    });
    isOver = true;
    await Promise.all(strangers);
  });

  it('lose no event: Kafka has one of each answer when it is back', async () => {
    await Promise.all([kafka.launch(), redis?.launch()]);
    const topic = createTopicLog({ brokers: kafka.address, topic: 'accord.consents' });
    const told = async () => {
      const committed = carriedEvents(await topic.read()).filter(
        ({ type }) => type === 'io.accord.consent.committed.v1',
      );
      return [...new Set(committed.map(({ transaction }) => transaction))].sort();
    };
    await expect.poll(told, { timeout: 60_000, interval: 500 }).toEqual(answered.toSorted());
    // One of each request that took answers over.
    const imported = async () => {
      const messages = await topic.read();
      const ofImports = messages.filter(
        ({ headers }) => headers?.ce_type?.toString() === 'io.accord.records.imported.v1',
      );
      return new Set(ofImports.map(({ key }) => key?.toString())).size;
    };
    await expect.poll(imported, { timeout: 60_000, interval: 500 }).toBe(2);
  }, 90_000);
});
