import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rotateInstanceKeys } from '#lib/config/rotate-instance-keys.ts';
import { generatePrivateKey, generateSharedSecret } from '#lib/config/secret-values.ts';
import { release, services } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { memoryScenario } from './memory-limit.ts';
import { withoutFailure } from './under-load.ts';

/** What operators do. */
export const operationScenarios: Scenario[] = [
  {
    name: 'rotation',
    promise:
      'Every secret of the release, with the passwords of the services in the database, is rotated without a failed request.',
    run: (stage) =>
      withoutFailure(stage, async () => {
        for (const order of ['after', 'before', 'alone'] as const) {
          await changeSecrets(stage, order);
          await stage.organisation.deploy();
        }
        await rotateKeys(stage);
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
  memoryScenario,
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

/** Entries with a random text, and those of them whose old line is still needed afterwards. */
const shared = [
  ...services.flatMap((service) => [`internal-${service}`, `database-${service}`]),
  'issuer-cookies',
  'console-client',
  'console-session',
  'transaction-token',
  'key-pepper',
  'webhook-sealing',
  'erasure-pepper',
];
const neededLonger = ['transaction-token', 'key-pepper', 'webhook-sealing'];

/**
 * Adds a new entry after the old one, moves it before, or leaves it alone (docs/operations.md, "Secrets").
 */
async function changeSecrets(stage: Stage, order: 'after' | 'before' | 'alone'): Promise<void> {
  const present = await readSecrets(stage);
  const changed: Record<string, string[]> = {};
  for (const entry of [...shared, 'issuer-signing']) {
    const lines = present[entry] ?? [];
    const generate = entry === 'issuer-signing' ? generatePrivateKey : generateSharedSecret;
    if (order === 'after') changed[entry] = [...lines, generate()];
    else if (order === 'before') changed[entry] = lines.toReversed();
    else if (!neededLonger.includes(entry)) changed[entry] = lines.slice(0, 1);
  }
  await writeSecrets(stage, changed);
}

/** Replaces the keys of the instance: first in transactions, which decrypts what is sent to the new key. */
async function rotateKeys(stage: Stage): Promise<void> {
  const present = await readSecrets(stage);
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-rotation-'));
  const entries = ['instance-signing', 'instance-sealing'];
  const file = (entry: string) => path.join(folder, entry);
  try {
    for (const entry of entries)
      await writeFile(file(entry), `${present[entry]?.join('\n')}\n`, { mode: 0o600 });
    await rotateInstanceKeys(folder, new Date());
    const changed = entries.map(async (entry) => [entry, linesOf(await readFile(file(entry), 'utf8'))]);
    await writeSecrets(stage, Object.fromEntries(await Promise.all(changed)));
  } finally {
    await rm(folder, { recursive: true });
  }
  const { kubectl } = stage.organisation;
  await kubectl('rollout', 'restart', `deploy/${release}-transactions`);
  await kubectl('rollout', 'status', `deploy/${release}-transactions`, '--timeout=180s');
  await kubectl('rollout', 'restart', `deploy/${release}-peers`);
  await kubectl('rollout', 'status', `deploy/${release}-peers`, '--timeout=180s');
}

async function readSecrets({ organisation }: Stage): Promise<Record<string, string[]>> {
  const { data } = JSON.parse(
    await organisation.kubectl('get', 'secret', `${release}-secrets`, '--output=json'),
  ) as { data: Record<string, string> };
  const decoded = Object.entries(data).map(([entry, text]) => [
    entry,
    linesOf(Buffer.from(text, 'base64').toString('utf8')),
  ]);
  return Object.fromEntries(decoded);
}

async function writeSecrets({ organisation }: Stage, entries: Record<string, string[]>): Promise<void> {
  const stringData = Object.fromEntries(
    Object.entries(entries).map(([entry, lines]) => [entry, `${lines.join('\n')}\n`]),
  );
  const patch = JSON.stringify({ stringData });
  await organisation.kubectl('patch', 'secret', `${release}-secrets`, `--patch=${patch}`);
}

function linesOf(text: string): string[] {
  return text.trim().split('\n');
}
