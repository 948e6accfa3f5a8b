import { release, services } from '../organisation.ts';
import { expectThat, type Scenario, type Stage } from '../scenario.ts';
import { withoutFailure } from './under-load.ts';

/** Other numbers of replicas. */
export const scaleScenarios: Scenario[] = [
  {
    name: 'scale',
    promise:
      'Each service is scaled from two replicas to three and back by values, and to one and back by `kubectl scale`, without a failed request.',
    run: (stage) =>
      withoutFailure(stage, async () => {
        await scaleByValues(stage, 3);
        await scaleByValues(stage, 2);
        for (const service of services)
          for (const replicas of [1, 2]) await scaleByKubectl(stage, service, replicas);
      }),
  },
];

async function scaleByValues(stage: Stage, replicas: number): Promise<void> {
  const values = services.map((service) => [service, { replicas }]);
  await stage.organisation.deploy({ services: Object.fromEntries(values) });
  for (const service of services) await expectReplicas(stage, service, replicas);
}

async function scaleByKubectl(stage: Stage, service: string, replicas: number): Promise<void> {
  const { kubectl } = stage.organisation;
  await kubectl('scale', `deploy/${release}-${service}`, `--replicas=${replicas}`);
  await kubectl('rollout', 'status', `deploy/${release}-${service}`, '--timeout=120s');
  await expectReplicas(stage, service, replicas);
}

async function expectReplicas({ organisation }: Stage, service: string, replicas: number): Promise<void> {
  const words = ['get', `deploy/${release}-${service}`, '--output=jsonpath={.status.readyReplicas}'];
  const ready = await organisation.kubectl(...words);
  expectThat(Number(ready) === replicas, `${service} has ${ready} ready replicas instead of ${replicas}`);
}
