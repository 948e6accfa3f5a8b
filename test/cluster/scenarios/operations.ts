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
  autoscalingScenario,
  {
    name: 'reinstallation',
    promise:
      'After `helm uninstall` and `helm install` on the same data, every earlier record is the same, the API key is accepted, and new answers are accepted.',
    run: reinstall,
  },
];

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
