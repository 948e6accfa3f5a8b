import { createOrganisation, waitForRouter, waitForStores } from '../organisation.ts';
import { expectThat, type Scenario, type Stage } from '../scenario.ts';

const namespace = 'newcomer';
const faulty = {
  database: {
    host: 'nowhere',
    port: 5432,
    tls: { enabled: false },
    owner: { existingSecret: 'trial-postgres' },
  },
  jobs: { timeout: 60 },
};

/** Faults of operators before anything runs. */
export const firstInstallScenarios: Scenario[] = [
  {
    name: 'faulty installation',
    promise:
      'A first installation with a database that cannot be reached fails and says why, creates no Deployment and no route, and the corrected values install it.',
    async run(stage) {
      try {
        return await correct(stage);
      } finally {
        const words = ['delete', 'namespace', namespace, '--wait=false', '--ignore-not-found'];
        await stage.cluster.kubectl.run(words);
      }
    },
  },
];

async function correct(stage: Stage): Promise<string> {
  const organisation = await createOrganisation(stage, namespace);
  await waitForStores(organisation);
  const { kubectl, deploy } = organisation;
  const refusal = await deploy(faulty, ['--timeout=75s']).then(
    () => undefined,
    (error: Error) => error.message,
  );
  expectThat(refusal, 'the installation succeeded');
  const log = await kubectl('logs', '--selector=app.kubernetes.io/component=migrate', '--tail=-1');
  const sentence = /^.*database at nowhere:5432 .*$/m.exec(log)?.[0];
  expectThat(sentence, `no sentence says why: ${log}${refusal}`);
  const created = await kubectl('get', 'deploy,ingress,service', '--output=name');
  expectThat(!created.includes('accord'), `half of the release is there: ${created}`);
  // Without a route the router has no certificate for this host, so that the connection fails.
  const url = `${organisation.url}/.well-known/accord`;
  const isServed = await stage.router.fetch(url).then(
    ({ status }) => status < 400,
    () => false,
  );
  expectThat(!isServed, 'the router serves the instance');
  const started = performance.now();
  await deploy({ defaults: { replicas: 1 } });
  await waitForRouter(organisation, stage.router);
  const seconds = (performance.now() - started) / 1000;
  return `“${sentence.trim().slice(0, 200)}”; corrected after ${seconds.toFixed(0)} s`;
}
