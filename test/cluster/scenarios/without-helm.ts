import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  createOrganisation,
  type Organisation,
  release,
  services,
  waitForRouter,
  waitForStores,
} from '../organisation.ts';
import { expectThat, type Scenario, type Stage } from '../scenario.ts';
import { countTraces } from './install.ts';

/** What Argo CD and others do: they render the chart and apply the manifests. */
export const templateScenarios: Scenario[] = [
  {
    name: 'template',
    promise:
      '`helm template` with `kubectl apply` installs a release with an external issuer and upgrades it; no secret is drawn again, autoscaling is switched on without a pod less, and the pod of `helm test` tries a consent with a client of that issuer.',
    async run(stage) {
      const organisation = await createOrganisation(stage, 'agency');
      try {
        await waitForStores(organisation);
        return await applyTwice(stage, organisation);
      } finally {
        const words = ['delete', 'namespace', 'agency', '--wait=false', '--ignore-not-found'];
        await stage.cluster.kubectl.run(words);
      }
    },
  },
];

async function applyTwice(stage: Stage, organisation: Organisation): Promise<string> {
  const values = await valuesWithIssuer(stage, organisation);
  const install = await applyRelease(stage, organisation, values);
  const secrets = await readSecret(organisation);
  // Its issuer is elsewhere.
  await waitForRouter(organisation, stage.router, []);
  const before = await readGenerations(organisation);
  await applyRelease(stage, organisation, values);
  const after = await readGenerations(organisation);
  expectThat(before === after, `the same values change resources: ${before} became ${after}`);
  const upgrade = await applyRelease(stage, organisation, { ...values, logLevel: 'error' });
  expectThat((await readSecret(organisation)) === secrets, 'the upgrade has changed the Secret');
  await waitForRouter(organisation, stage.router, []);
  await switchAutoscalingOn(stage, organisation, values);
  const traces = await countTraces(organisation);
  const test = await organisation.render(values, ['--show-only=templates/tests-pod.yaml']);
  await stage.cluster.kubectl.apply(test, [`--namespace=${organisation.name}`]);
  const pod = `pod/${release}-test`;
  await organisation.kubectl('wait', pod, '--for=jsonpath={.status.phase}=Succeeded', '--timeout=120s');
  const log = await organisation.kubectl('logs', pod);
  expectThat(log.includes('ok: a subject consents'), `the test left the consent out: ${log}`);
  expectThat((await countTraces(organisation)) === traces, 'the test has left rows');
  return `ready after ${install.toFixed(0)} s; the upgrade took ${upgrade.toFixed(0)} s`;
}

/** The issuer of the school is that of the new organisation, too. */
async function valuesWithIssuer({ organisation: school }: Stage, { kubectl }: Organisation): Promise<object> {
  const { id, secret } = await school.createClient();
  await kubectl('create', 'secret', 'generic', 'test-client', `--from-literal=client-secret=${secret}`);
  return {
    oidc: { issuer: `${school.url}/auth`, audience: school.url, subjectClaim: 'sub' },
    test: { clientId: id, existingSecret: 'test-client' },
    defaults: { replicas: 1 },
    services: { forms: { replicas: 2 } },
  };
}

/** As docs/kubernetes.md describes it for `kubectl apply`. */
async function switchAutoscalingOn(stage: Stage, organisation: Organisation, values: object): Promise<void> {
  const { render, kubectl } = organisation;
  const autoscaling = { enabled: true, minReplicas: 1, maxReplicas: 3 };
  const autoscaled = { ...values, services: { forms: { replicas: 2, autoscaling } } };
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-deployments-'));
  try {
    const file = path.join(folder, 'deployments.yaml');
    await writeFile(file, await render(autoscaled, ['--show-only=templates/services-deployment.yaml']));
    await kubectl('apply', 'set-last-applied', `--filename=${file}`);
  } finally {
    await rm(folder, { recursive: true });
  }
  await applyRelease(stage, organisation, autoscaled);
  const words = ['get', `deploy/${release}-forms`, '--output=jsonpath={.spec.replicas}'];
  const replicas = await kubectl(...words);
  expectThat(replicas === '2', `forms has ${replicas} pods after autoscaling was switched on`);
}

/** @returns the seconds until all pods are those of these values, and ready. */
async function applyRelease(
  { cluster }: Stage,
  { name, render, kubectl }: Organisation,
  values: object,
): Promise<number> {
  const started = performance.now();
  await cluster.kubectl.apply(await render(values, ['--skip-tests']), [`--namespace=${name}`]);
  for (const service of services)
    await kubectl('rollout', 'status', `deploy/${release}-${service}`, '--timeout=180s');
  return (performance.now() - started) / 1000;
}

function readSecret({ kubectl }: Organisation): Promise<string> {
  return kubectl('get', 'secret', `${release}-secrets`, '--output=jsonpath={.data}');
}

/** Changes when a resource is replaced or its specification is another. */
function readGenerations({ kubectl }: Organisation): Promise<string> {
  const each = '{.metadata.name} {.metadata.uid} {.metadata.generation}';
  const output = `--output=jsonpath={range .items[*]}${each}{"\\n"}{end}`;
  return kubectl('get', 'deployments,jobs,networkpolicies,poddisruptionbudgets,ingresses', output);
}
