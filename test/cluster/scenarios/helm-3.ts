import { buildHelm3 } from '../../infrastructure/helm.ts';
import { organisationOf, release, waitForRouter } from '../organisation.ts';
import { expectThat, type Scenario, type Stage } from '../scenario.ts';

/** The older Helm. */
export const helm3Scenarios: Scenario[] = [
  {
    name: 'helm 3',
    promise:
      'Helm 3 installs the release, tests it, upgrades it and rolls back, and uninstalls it; the data of before are there.',
    run: tryHelm3,
  },
];

async function tryHelm3(stage: Stage): Promise<string> {
  const { organisation, router, form } = stage;
  const helm = await buildHelm3();
  const withHelm3 = organisationOf({ ...stage, helm }, organisation.name);
  const newest = () => form.client.get('/transactions?size=1', { CM_KEY: form.key });
  const before = await newest();
  await organisation.helm('uninstall', release, '--wait', '--timeout=3m');
  const started = performance.now();
  await withHelm3.deploy();
  const seconds = (performance.now() - started) / 1000;
  try {
    await waitForRouter(organisation, router);
    await withHelm3.helm('test', release, '--timeout=2m');
    await withHelm3.deploy({ logLevel: 'error' });
    await withHelm3.helm('rollback', release, '--wait', '--timeout=5m');
    await waitForRouter(organisation, router);
    const after = await newest();
    expectThat(after.body === before.body, `the newest transaction is another: ${after.status}`);
  } finally {
    await withHelm3.helm('uninstall', release, '--wait', '--timeout=3m');
    await organisation.deploy();
    await waitForRouter(organisation, router);
  }
  return `${(await withHelm3.helm('version', '--short')).trim()}; installed in ${seconds.toFixed(0)} s`;
}
