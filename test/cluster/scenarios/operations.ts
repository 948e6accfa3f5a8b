import { generateSharedSecret } from '#lib/config/secret-values.ts';
import { release } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { withoutFailure, withoutLoss } from './under-load.ts';

const services = ['auth', 'forms', 'transactions', 'peers', 'webhooks', 'console'];

/** What operators do. */
export const operationScenarios: Scenario[] = [
  {
    name: 'rotation',
    promise:
      'The secrets of internal calls, access tokens and transactions are rotated without a failed request.',
    run: (stage) =>
      withoutFailure(stage, async () => {
        for (const order of ['after', 'before', 'alone'] as const) {
          await changeSecret(stage, order);
          await stage.organisation.deploy();
        }
      }),
  },
  {
    name: 'drain',
    promise: 'A drain of the node leaves one ready pod of each service and fails no request.',
    run: (stage) =>
      withoutFailure(stage, async () => {
        const { cluster, organisation } = stage;
        const selector = `--pod-selector=app.kubernetes.io/instance=${release}`;
        // There is no other node, so that the drain cannot end.
        await cluster.kubectl
          .run(['drain', 'node1', selector, '--ignore-daemonsets', '--delete-emptydir-data', '--timeout=40s'])
          .catch(() => '');
        for (const service of services) {
          const words = [
            'get',
            'deploy',
            `${release}-${service}`,
            '--output=jsonpath={.status.readyReplicas}',
          ];
          const ready = await organisation.kubectl(...words);
          expectThat(Number(ready) >= 1, `the drain left no ready pod of ${service}`);
        }
        await cluster.kubectl.run(['uncordon', 'node1']);
        await waitForRollouts(stage);
      }),
  },
  {
    name: 'memory limit',
    promise:
      'A pod that exceeds its memory limit is restarted, and no acknowledged answer is lost or stored twice.',
    run: (stage) =>
      withoutLoss(stage, async () => {
        const { kubectl } = stage.organisation;
        const selector = '--selector=app.kubernetes.io/component=transactions';
        const [pod = ''] = (await kubectl('get', 'pods', selector, '--output=name')).trim().split('\n');
        const eater = 'const all = []; setInterval(() => all.push(Buffer.alloc(64 << 20, 1)), 20)';
        await kubectl('exec', pod, '--', 'sh', '-c', `exec node --eval '${eater}'`).catch(() => '');
        await waitForRollouts(stage);
      }),
  },
  {
    name: 'autoscaling',
    promise: 'The HorizontalPodAutoscaler adds pods of transactions under load and removes them afterwards.',
    async run(stage) {
      const { organisation } = stage;
      const autoscaling = { enabled: true, minReplicas: 1, maxReplicas: 3, targetCPU: 50 };
      await organisation.deploy({
        services: { transactions: { autoscaling, resources: { requests: { cpu: '100m' } } } },
      });
      const name = `hpa/${release}-transactions`;
      const behavior = { scaleDown: { stabilizationWindowSeconds: 5 } };
      await organisation.kubectl(
        'patch',
        name,
        '--type=merge',
        `--patch=${JSON.stringify({ spec: { behavior } })}`,
      );
      const replicas = async () =>
        Number(
          await organisation.kubectl(
            'get',
            'deploy',
            `${release}-transactions`,
            '--output=jsonpath={.spec.replicas}',
          ),
        );
      let out = 0;
      const result = await withoutFailure(stage, async () => {
        out = await waitUntil('more pods', async () => (await replicas()) >= 2, 180_000);
      });
      const back = await waitUntil('fewer pods', async () => (await replicas()) === 1, 300_000);
      await organisation.deploy();
      return `out after ${out.toFixed(0)} s, in after ${back.toFixed(0)} s; ${result}`;
    },
  },
  {
    name: 'reinstallation',
    promise:
      'After `helm uninstall` and `helm install` on the same data, earlier answers are there and new ones are accepted.',
    async run({ organisation, form }) {
      const { client, key } = form;
      const list = async () => JSON.parse((await client.get('/transactions?size=1', { CM_KEY: key })).body);
      const before = await list();
      await organisation.helm('uninstall', release, '--wait', '--timeout=3m');
      const left = await organisation.kubectl(
        'get',
        'deploy,networkpolicy,service',
        '--selector=app.kubernetes.io/instance=accord',
        '--output=name',
      );
      expectThat(left.trim() === '', `resources are left: ${left}`);
      await organisation.deploy();
      await waitUntil(
        'the router reaches the services',
        async () => (await client.get('/transactions?size=1', { CM_KEY: key })).status === 200,
      );
      const after = await list();
      expectThat(
        JSON.stringify(before) === JSON.stringify(after),
        'the newest transaction differs after the reinstallation',
      );
      return 'the API key of before is accepted, and the newest transaction is the same';
    },
  },
];

async function waitForRollouts({ organisation }: Stage): Promise<void> {
  for (const service of services)
    await organisation.kubectl('rollout', 'status', `deploy/${release}-${service}`, '--timeout=180s');
}

/**
 * Adds a new entry after the old one, moves it before, or leaves it alone (docs/operations.md, "Secrets").
 */
async function changeSecret({ organisation }: Stage, order: 'after' | 'before' | 'alone'): Promise<void> {
  const name = `${release}-secrets`;
  const secret = JSON.parse(await organisation.kubectl('get', 'secret', name, '--output=json')) as {
    data: Record<string, string>;
  };
  const rotated = [
    ...services.map((service) => `internal-${service}`),
    'issuer-cookies',
    'transaction-token',
  ];
  const data: Record<string, string> = {};
  for (const entry of rotated) {
    const lines = Buffer.from(secret.data[entry] ?? '', 'base64')
      .toString('utf8')
      .trim()
      .split('\n');
    const next =
      order === 'after'
        ? [...lines, generateSharedSecret()]
        : order === 'before'
          ? lines.toReversed()
          : lines.slice(0, 1);
    // Links that were handed out need the old entry.
    const kept = order === 'alone' && entry === 'transaction-token' ? lines : next;
    data[entry] = Buffer.from(`${kept.join('\n')}\n`).toString('base64');
  }
  await organisation.kubectl('patch', 'secret', name, '--type=merge', `--patch=${JSON.stringify({ data })}`);
}
