import { release } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { withoutFailure } from './under-load.ts';

const deployment = `${release}-transactions`;
const values = {
  services: {
    transactions: {
      autoscaling: { enabled: true, minReplicas: 1, maxReplicas: 4, targetCPU: 50 },
      resources: { requests: { cpu: '100m' } },
    },
  },
};

/** Numbers of pods that a HorizontalPodAutoscaler decides about. */
export const autoscalingScenario: Scenario = {
  name: 'autoscaling',
  promise:
    'Autoscaling of transactions is switched on under load without a failed request and without a pod less; the HorizontalPodAutoscaler adds pods under load and removes them afterwards.',
  async run(stage) {
    const { organisation } = stage;
    let fewest = Number.POSITIVE_INFINITY;
    const on = await withoutFailure(stage, async () => {
      fewest = await switchOn(stage);
    });
    expectThat(fewest >= 2, `transactions had ${fewest} pods while autoscaling was switched on`);
    const spec = { behavior: { scaleDown: { stabilizationWindowSeconds: 5 } } };
    const patch = `--patch=${JSON.stringify({ spec })}`;
    await organisation.kubectl('patch', `hpa/${deployment}`, '--type=merge', patch);
    await waitUntil('fewer pods', async () => (await readReplicas(stage)) === 1, 300_000);
    let out = 0;
    const result = await withoutFailure(stage, async () => {
      out = await waitUntil('more pods', async () => (await readReplicas(stage)) >= 2, 180_000);
    });
    const back = await waitUntil('fewer pods', async () => (await readReplicas(stage)) === 1, 300_000);
    // The autoscaler has set the number last; without the option Helm 4 does not replace it.
    await organisation.deploy({}, ['--force-conflicts']);
    return `switched on: ${on}; out after ${out.toFixed(0)} s, in after ${back.toFixed(0)} s: ${result}`;
  },
};

/** As docs/kubernetes.md describes it. @returns the smallest number of pods meanwhile */
async function switchOn(stage: Stage): Promise<number> {
  const { kubectl, deploy } = stage.organisation;
  await kubectl('scale', `deploy/${deployment}`, '--replicas=3');
  let isDone = false;
  const upgrade = deploy(values).finally(() => {
    isDone = true;
  });
  let fewest = Number.POSITIVE_INFINITY;
  const watch = waitUntil(
    'the upgrade',
    async () => {
      fewest = Math.min(fewest, await readReplicas(stage));
      return isDone;
    },
    600_000,
  );
  await Promise.all([upgrade, watch]);
  return fewest;
}

async function readReplicas({ organisation }: Stage): Promise<number> {
  const words = ['get', `deploy/${deployment}`, '--output=jsonpath={.spec.replicas}'];
  return Number(await organisation.kubectl(...words));
}
