import { release, services } from '../organisation.ts';
import { expectThat, type Scenario, type Stage } from '../scenario.ts';
import { withoutFailure } from './under-load.ts';

/** Other numbers of replicas. */
export const scaleScenarios: Scenario[] = [
  {
    name: 'scale',
    promise:
      'Each service is scaled from two replicas to three and back by values, and to one and back by `kubectl scale`, without a failed request. A number of `kubectl scale` stays until an upgrade with `--force-conflicts`.',
    run: (stage) =>
      withoutFailure(stage, async () => {
        await scaleByValues(stage, 3);
        await scaleByValues(stage, 2);
        for (const service of services)
          for (const replicas of [1, 2]) await scaleByKubectl(stage, service, replicas);
        await expectConflict(stage);
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

/** Helm 4 applies values on the server, which keeps a number that another program has set. */
async function expectConflict(stage: Stage): Promise<void> {
  await scaleByKubectl(stage, 'forms', 3);
  const refused = await stage.organisation.deploy().then(
    () => '',
    (error: Error) => error.message,
  );
  expectThat(refused.includes('.spec.replicas'), `the upgrade has not named the conflict: ${refused}`);
  await expectReplicas(stage, 'forms', 3);
  await stage.organisation.deploy({}, ['--force-conflicts']);
  await expectReplicas(stage, 'forms', 2);
}

async function expectReplicas({ organisation }: Stage, service: string, replicas: number): Promise<void> {
  const words = ['get', `deploy/${release}-${service}`, '--output=jsonpath={.status.readyReplicas}'];
  const ready = await organisation.kubectl(...words);
  expectThat(Number(ready) === replicas, `${service} has ${ready} ready replicas instead of ${replicas}`);
}
