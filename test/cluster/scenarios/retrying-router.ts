import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { release } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { countRestarts, interruptionsDuring, killProcess } from './under-load.ts';

const service = 'transactions';
const selector = `--selector=app.kubernetes.io/component=${service}`;
const replicas = 2;

/** The router that docs/kubernetes.md recommends. */
export const retryScenarios: Scenario[] = [
  {
    name: 'retrying router',
    promise:
      'A router that tries another pod if a connection is refused hides most of a kill -9 of each process of transactions; no acknowledged answer is lost or stored twice.',
    async run(stage) {
      const { organisation, cluster } = stage;
      const without = await killEach(stage);
      const { middleware, values } = await readDocumented(organisation.name);
      await cluster.kubectl.apply(JSON.stringify(middleware));
      try {
        await organisation.deploy(values);
        const repeated = await killEach(stage);
        expectThat(
          repeated.interrupted < without.interrupted,
          `${repeated.interrupted} flows were interrupted, ${without.interrupted} without the Middleware`,
        );
        return `without: ${without.figures}; with it: ${repeated.figures}`;
      } finally {
        await organisation.deploy();
        await organisation.kubectl('delete', 'middleware', '--all');
      }
    },
  },
];

/** The resource and the values of docs/kubernetes.md, with the namespace of an organisation. */
async function readDocumented(namespace: string): Promise<{ middleware: object; values: object }> {
  const page = await readFile(new URL('../../../docs/kubernetes.md', import.meta.url), 'utf8');
  const section = page.split('\n## The router\n')[1] ?? '';
  const text = section.split('```yaml\n')[1]?.split('```')[0] ?? '';
  const [middleware, values] = parseAllDocuments(text.replaceAll(/\bconsent\b/g, namespace)).map((document) =>
    document.toJS(),
  );
  return { middleware, values };
}

/** Kills the process of each pod, one after the other: of new pods, which the kubelet restarts at once. */
async function killEach(stage: Stage): Promise<{ figures: string; interrupted: number }> {
  const { kubectl } = stage.organisation;
  await kubectl('rollout', 'restart', `deploy/${release}-${service}`);
  await kubectl('rollout', 'status', `deploy/${release}-${service}`, '--timeout=180s');
  await waitUntil('the pods of before are gone', async () => (await podsOf(stage)).length === replicas);
  return interruptionsDuring(stage, async () => {
    for (let killed = 1; killed <= replicas; killed += 1) {
      await killProcess(stage, `services/${service}/main.ts`);
      await waitUntil(
        'the process is started again',
        async () => (await countRestarts(stage, service)) === killed,
      );
      await kubectl('wait', '--for=condition=Ready', 'pods', selector, '--timeout=120s');
    }
  });
}

/** The pods of the service, also those that end. */
async function podsOf({ organisation }: Stage): Promise<string[]> {
  const pods = await organisation.kubectl('get', 'pods', selector, '--output=name');
  return pods.trim().split('\n');
}
