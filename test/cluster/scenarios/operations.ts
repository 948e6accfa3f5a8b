import { release, services, waitForRouter } from '../organisation.ts';
import { expectSameRecords, readRecords } from '../records.ts';
import { expectThat, type Scenario, type Stage } from '../scenario.ts';
import { autoscalingScenario } from './autoscaling.ts';
import { memoryScenario } from './memory-limit.ts';
import { rotationScenario } from './rotation.ts';
import { expectFlows, withoutFailure } from './under-load.ts';

/** What operators do. */
export const operationScenarios: Scenario[] = [
  rotationScenario,
  {
    name: 'drain',
    promise:
      'A drain of the node evicts a pod of each service, leaves one ready pod of it and fails no request.',
    run: (stage) =>
      withoutFailure(stage, async () => {
        const { cluster, organisation } = stage;
        const selector = `--pod-selector=app.kubernetes.io/instance=${release}`;
        const before = await podsByService(stage);
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
        const after = await podsByService(stage);
        for (const service of services) {
          const evicted = before.get(service)?.filter((pod) => !after.get(service)?.includes(pod)) ?? [];
          expectThat(evicted.length > 0, `the drain evicted no pod of ${service}`);
        }
      }),
  },
  memoryScenario,
  autoscalingScenario,
  {
    name: 'reinstallation',
    promise:
      'After `helm uninstall` and `helm install` on the same data, every earlier record is the same, the API key is accepted, and new answers are accepted.',
    run: reinstall,
  },
];

/** The names of the pods of each service, without those that an earlier event has ended. */
async function podsByService({ organisation }: Stage): Promise<Map<string, string[]>> {
  const entries = services.map(async (service) => {
    const selector = `--selector=app.kubernetes.io/component=${service}`;
    const { items } = JSON.parse(await organisation.kubectl('get', 'pods', selector, '--output=json')) as {
      items: { metadata: { name: string; deletionTimestamp?: string } }[];
    };
    const running = items.filter(({ metadata }) => !metadata.deletionTimestamp);
    return [service, running.map(({ metadata }) => metadata.name)] as const;
  });
  return new Map(await Promise.all(entries));
}

async function waitForRollouts({ organisation }: Stage): Promise<void> {
  for (const service of services)
    await organisation.kubectl('rollout', 'status', `deploy/${release}-${service}`, '--timeout=180s');
}

async function reinstall(stage: Stage): Promise<string> {
  const { organisation, router } = stage;
  const before = await readRecords(organisation);
  await organisation.helm('uninstall', release, '--wait', '--timeout=3m');
  const left = await organisation.kubectl(
    'get',
    'deploy,networkpolicy,service',
    `--selector=app.kubernetes.io/instance=${release}`,
    '--output=name',
  );
  expectThat(left.trim() === '', `resources are left: ${left}`);
  await organisation.deploy();
  await waitForRouter(organisation, router);
  const { flows } = await expectFlows(stage, 10);
  expectSameRecords(before, await readRecords(organisation));
  return `${before.size} earlier records are the same; ${flows} new flows`;
}
