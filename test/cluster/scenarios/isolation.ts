import { release } from '../organisation.ts';
import {
  inNamespace,
  probeCommand,
  probeFrom,
  readStates,
  servicePorts,
  storePorts,
  tellStates,
} from '../probe.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';

const targets = [...servicePorts, ...storePorts];
/** What transactions may connect to. */
const needed = [`${release}-auth:8081`, `${release}-forms:8081`, ...storePorts];
/** A stranger reaches it: the probe and the name server work. */
const nameServer = 'kube-dns.kube-system.svc.cluster.local:53';
const strangers = 'strangers';

/** What other namespaces reach. */
export const isolationScenarios: Scenario[] = [
  {
    name: 'isolation',
    isQuick: true,
    promise:
      'A pod in another namespace reaches no port of the services and of the stores in the namespace of the release, although all are open: the pod of `helm test` reaches every port of the services. Transactions reaches the stores and the services that it calls, and nothing else.',
    async run(stage) {
      const { organisation } = stage;
      await expectOpen(stage, servicePorts);
      const hosts = inNamespace(organisation.name, targets);
      const stranger = await probeAsStranger(stage, [nameServer, ...hosts]);
      expectThat(
        stranger.get(nameServer) === 'open' && hosts.every((host) => stranger.get(host) === 'blocked'),
        `a stranger reaches the release, or no name server: ${tellStates(stranger)}`,
      );
      const own = await probeFrom(organisation, 'transactions', targets);
      expectThat(
        targets.every((target) => (own.get(target) === 'open') === needed.includes(target)),
        `transactions reaches other ports than it needs: ${tellStates(own)}`,
      );
      return `${hosts.length} ports blocked; ${servicePorts.length} open to the test, ${needed.length} to transactions`;
    },
  },
];

/** Runs the probe in a pod of another namespace, which has no NetworkPolicy. @returns states by target */
async function probeAsStranger(stage: Stage, hosts: string[]): Promise<Map<string, string>> {
  const { run, apply } = stage.cluster.kubectl;
  await apply(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: strangers } }));
  try {
    await createPod(stage, { name: 'stranger', namespace: strangers });
    const command = ['exec', 'stranger', '--', ...probeCommand(hosts)];
    return readStates(await run([`--namespace=${strangers}`, ...command]));
  } finally {
    await run(['delete', 'namespace', strangers]);
  }
}

/**
 * Runs the probe in a pod with the labels of that of `helm test`, which may call every service. @throws if it
 * does not reach one, with the states
 */
async function expectOpen(stage: Stage, hosts: string[]): Promise<void> {
  const { kubectl, name: namespace } = stage.organisation;
  const labels = {
    'app.kubernetes.io/name': 'accord',
    'app.kubernetes.io/instance': release,
    'app.kubernetes.io/component': 'test',
  };
  try {
    await createPod(stage, { name: 'tester', namespace, labels });
    // A network plugin may need some seconds until it knows a new pod.
    await waitUntil('the pod of the test reaches every port of the services', async () => {
      const states = readStates(await kubectl('exec', 'tester', '--', ...probeCommand(hosts)));
      expectThat(
        hosts.every((host) => states.get(host) === 'open'),
        tellStates(states),
      );
      return true;
    });
  } finally {
    await kubectl('delete', 'pod/tester', '--ignore-not-found', '--grace-period=1');
  }
}

/** A pod of the image that does nothing until it is deleted. */
async function createPod(
  { cluster, organisation }: Stage,
  metadata: { name: string; namespace: string; labels?: Record<string, string> },
): Promise<void> {
  const imagePath = '--output=jsonpath={.spec.template.spec.containers[0].image}';
  const image = (await organisation.kubectl('get', 'deploy', `${release}-auth`, imagePath)).trim();
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const spec = {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ name: 'probe', image, command: ['sleep', '600'], securityContext }],
  };
  const { run, apply } = cluster.kubectl;
  await apply(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }));
  const wait = ['wait', `pod/${metadata.name}`, '--for=condition=Ready', '--timeout=60s'];
  await run([`--namespace=${metadata.namespace}`, ...wait]);
}
