import { release, services } from '../organisation.ts';
import { expectThat, type Scenario } from '../scenario.ts';

/** What holds right after `helm install`. */
export const installScenarios: Scenario[] = [
  {
    name: 'restricted',
    isQuick: true,
    promise: 'Every pod of the release meets the restricted Pod Security Standard.',
    async run({ organisation, cluster }) {
      const manifest = await organisation.helm('get', 'manifest', release);
      const words = [
        '--dry-run=server',
        '--validate=strict',
        '--warnings-as-errors',
        `--namespace=${organisation.name}`,
      ];
      await cluster.kubectl.apply(manifest, words);
      return 'no warning';
    },
  },
  {
    name: 'helm test',
    isQuick: true,
    promise: '`helm test` passes and leaves no pod.',
    async run({ organisation }) {
      await organisation.helm('test', release, '--timeout=2m');
      const pods = await organisation.kubectl(
        'get',
        'pods',
        '--selector=app.kubernetes.io/component=test',
        '--output=name',
      );
      expectThat(pods.trim() === '', `the pod of the test is still there: ${pods}`);
      return 'passed';
    },
  },
  {
    name: 'no token',
    isQuick: true,
    promise: 'No pod of a service has a token of the API server, and no Job is left.',
    async run({ organisation }) {
      for (const service of services) {
        const words = ['exec', `deploy/${release}-${service}`, '--', 'ls', '/var/run/secrets/kubernetes.io'];
        const found = await organisation.kubectl(...words).catch(() => '');
        expectThat(found === '', `${service} has a token`);
      }
      const jobs = await organisation.kubectl('get', 'jobs', '--output=name');
      expectThat(jobs.trim() === '', `Jobs are left: ${jobs}`);
      return `${services.length} services`;
    },
  },
];
