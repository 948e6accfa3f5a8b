import { release } from '../organisation.ts';
import { expectThat, type Scenario, type Stage } from '../scenario.ts';

/** Ports of the release and of its stores, and whether transactions may connect to them. */
const targets = new Map([
  [`${release}-transactions:8081`, false],
  [`${release}-auth:8081`, true],
  [`${release}-forms:8080`, false],
  ['trial-postgres:5432', true],
  ['trial-kafka:9092', true],
  ['trial-redis:6379', true],
]);
/** A stranger reaches it: the probe and the name server work. */
const nameServer = 'kube-dns.kube-system.svc.cluster.local:53';
const strangers = 'strangers';

/** A program for Node.js that says which hosts and ports accept a connection within two seconds. */
const probe = `
const { connect } = require('node:net');
for (const target of process.argv.slice(1)) {
  const [host, port] = target.split(':');
  const socket = connect(Number(port), host);
  const timer = setTimeout(() => end('blocked'), 2000);
  const end = (what) => { clearTimeout(timer); socket.destroy(); console.log(target, what); };
  socket.on('connect', () => end('open')).on('error', ({ code }) => end(code));
}
`;

/** What other namespaces reach. */
export const isolationScenarios: Scenario[] = [
  {
    name: 'isolation',
    isQuick: true,
    promise:
      'A pod in another namespace reaches no port of the services and of the stores in the namespace of the release; transactions reaches the stores and the services that it calls.',
    async run(stage) {
      const domain = `.${stage.organisation.name}.svc.cluster.local:`;
      const hosts = [...targets.keys()].map((target) => target.replace(':', domain));
      const stranger = await probeAsStranger(stage, [nameServer, ...hosts]);
      expectThat(
        stranger.get(nameServer) === 'open' && hosts.every((host) => stranger.get(host) === 'blocked'),
        `a stranger reaches the release, or no name server: ${tell(stranger)}`,
      );
      const command = ['node', '--eval', probe, '--', ...targets.keys()];
      const output = await stage.organisation.kubectl(
        'exec',
        `deploy/${release}-transactions`,
        '--',
        ...command,
      );
      const own = readStates(output);
      expectThat(
        [...targets].every(([target, isAllowed]) => (own.get(target) === 'open') === isAllowed),
        `transactions reaches other ports than it needs: ${tell(own)}`,
      );
      const open = [...own.values()].filter((state) => state === 'open').length;
      return `${hosts.length} ports blocked; transactions reaches ${open} of them`;
    },
  },
];

/** Runs the probe in a pod of another namespace, which has no NetworkPolicy. @returns states by target */
async function probeAsStranger({ cluster, organisation }: Stage, hosts: string[]) {
  const imagePath = '--output=jsonpath={.spec.template.spec.containers[0].image}';
  const image = (await organisation.kubectl('get', 'deploy', `${release}-auth`, imagePath)).trim();
  const command = ['node', '--eval', probe, '--', ...hosts];
  const pod = { restartPolicy: 'Never', containers: [{ name: 'probe', image, command }] };
  const resources = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: strangers } },
    { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'stranger', namespace: strangers }, spec: pod },
  ];
  for (const resource of resources) await cluster.kubectl.apply(JSON.stringify(resource));
  const own = ['--namespace', strangers];
  const succeeded = '--for=jsonpath={.status.phase}=Succeeded';
  await cluster.kubectl.run([...own, 'wait', 'pod/stranger', succeeded, '--timeout=60s']);
  const log = await cluster.kubectl.run([...own, 'logs', 'stranger']);
  await cluster.kubectl.run(['delete', 'namespace', strangers]);
  return readStates(log);
}

/** The lines of the probe: a target and its state. */
function readStates(lines: string): Map<string, string> {
  return new Map(
    lines
      .trim()
      .split('\n')
      .map((line) => line.split(' ') as [string, string]),
  );
}

function tell(states: ReadonlyMap<string, string>): string {
  return [...states].map((pair) => pair.join(' ')).join(', ');
}
