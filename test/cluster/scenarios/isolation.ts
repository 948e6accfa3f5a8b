import { release } from '../organisation.ts';
import { expectThat, type Scenario } from '../scenario.ts';

const targets = [
  [`${release}-transactions`, 8081],
  [`${release}-auth`, 8081],
  [`${release}-forms`, 8080],
] as const;
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
    promise: 'A pod in another namespace reaches no port of the services; the services reach their stores.',
    async run({ cluster, organisation }) {
      const image = (
        await organisation.kubectl(
          'get',
          'deploy',
          `${release}-auth`,
          '--output=jsonpath={.spec.template.spec.containers[0].image}',
        )
      ).trim();
      await cluster.kubectl.apply(
        JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: strangers } }),
      );
      const hosts = targets.map(([host, port]) => `${host}.${organisation.name}.svc.cluster.local:${port}`);
      await cluster.kubectl.apply(
        JSON.stringify({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'stranger', namespace: strangers },
          spec: {
            restartPolicy: 'Never',
            containers: [{ name: 'probe', image, command: ['node', '--eval', probe, '--', ...hosts] }],
          },
        }),
      );
      const own = ['--namespace', strangers];
      await cluster.kubectl.run([
        ...own,
        'wait',
        'pod/stranger',
        '--for=jsonpath={.status.phase}=Succeeded',
        '--timeout=60s',
      ]);
      const log = await cluster.kubectl.run([...own, 'logs', 'stranger']);
      await cluster.kubectl.run(['delete', 'namespace', strangers]);
      const lines = log.trim().split('\n');
      expectThat(
        lines.length === hosts.length && lines.every((line) => line.endsWith('blocked')),
        `a stranger reaches a service:\n${log}`,
      );
      return `${hosts.length} ports blocked`;
    },
  },
];
