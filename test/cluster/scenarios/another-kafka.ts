import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { startLoad } from '../load.ts';
import { type Organisation, query } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { refusedUpgrade } from './faulty-values.ts';
import { withoutFailure } from './under-load.ts';

const other = { kafka: { brokers: ['other-kafka:9092'], tls: { enabled: false } } };
const schemas = ['auth', 'forms', 'transactions', 'peers'];

/** A Kafka that is not ready for Accord, and one that replaces the first. */
export const kafkaScenarios: Scenario[] = [
  {
    name: 'no topics',
    promise:
      'An upgrade to a Kafka without topics fails with topics.create=false, and the log of the Job says why.',
    run: (stage) =>
      withOtherKafka(stage, () =>
        refusedUpgrade(stage, {
          values: { ...other, topics: { create: false } },
          reason: /Kafka has no accord\./,
          read: ({ organisation }) =>
            organisation.kubectl('logs', '--selector=app.kubernetes.io/component=topics', '--tail=-1'),
        }),
      ),
  },
  {
    name: 'another Kafka',
    promise:
      'Moving to another Kafka under load, and back, fails no request; events reach webhooks while the Kafka of before is gone.',
    run: (stage) =>
      withOtherKafka(stage, async () => {
        const { organisation } = stage;
        const { kubectl } = organisation;
        const there = await withoutFailure(stage, async () => {
          await organisation.deploy({ ...other, topics: { refill: true } });
        });
        await kubectl('scale', 'statefulset/trial-kafka', '--replicas=0');
        await expectEvents(stage);
        await kubectl('scale', 'statefulset/trial-kafka', '--replicas=1');
        await kubectl('rollout', 'status', 'statefulset/trial-kafka', '--timeout=180s');
        const back = await withoutFailure(stage, async () => {
          await organisation.deploy({ topics: { refill: true } });
        });
        await kubectl('scale', 'statefulset/other-kafka', '--replicas=0');
        await expectEvents(stage);
        return `there: ${there}; back: ${back}`;
      }),
  },
];

async function withOtherKafka(stage: Stage, work: () => Promise<string>): Promise<string> {
  const { cluster, chart, organisation } = stage;
  const resources = await readFile(path.join(chart, 'trial/kafka.yaml'), 'utf8');
  const renamed = resources.replaceAll('trial-kafka', 'other-kafka').replaceAll(/cpu: \d+m/g, 'cpu: 10m');
  await cluster.kubectl.apply(renamed, [`--namespace=${organisation.name}`]);
  const { kubectl } = organisation;
  await kubectl('rollout', 'status', 'statefulset/other-kafka', '--timeout=180s');
  try {
    return await work();
  } finally {
    const named = ['statefulset/other-kafka', 'service/other-kafka', 'configmap/other-kafka'];
    await kubectl('delete', ...named, 'pvc/data-other-kafka-0', '--wait=false');
  }
}

/** Events of new flows are published and reach webhooks. */
export async function expectEvents(stage: Stage): Promise<void> {
  const { organisation, form } = stage;
  const { token } = await organisation.signIn();
  const created = await fetch(`${organisation.url}/webhooks`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    // The request fails; that the delivery is queued shows that the event came.
    body: JSON.stringify({
      targetUrl: `${organisation.url}/nowhere`,
      subscribedActions: ['consent.committed'],
    }),
  });
  expectThat(
    created.status === 201,
    `the webhook is answered with ${created.status}: ${await created.text()}`,
  );
  const { failures } = await startLoad(form, { perSecond: 1 }).stop();
  expectThat(failures.length === 0, `a flow failed: ${failures[0]}`);
  await waitUntil(
    'the event reaches the webhook',
    async () => (await count(organisation, 'webhooks.deliveries')) > 0,
  );
  for (const schema of schemas)
    await waitUntil(
      `the outbox of ${schema} is empty`,
      async () => (await count(organisation, `${schema}.outbox`)) === 0,
    );
  await query(organisation, 'DELETE FROM webhooks.deliveries; DELETE FROM webhooks.webhooks');
}

async function count(organisation: Organisation, table: string): Promise<number> {
  return Number((await query(organisation, `SELECT count(*) FROM ${table}`))[0]?.[0]);
}
