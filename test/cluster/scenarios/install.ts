import { type Organisation, query, release, services } from '../organisation.ts';
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
    promise:
      '`helm test` tries a whole consent, passes, and leaves no pod and no row but those of the audit log.',
    async run({ organisation }) {
      const before = await countTraces(organisation);
      await organisation.helm('test', release, '--timeout=2m');
      const pods = await organisation.kubectl(
        'get',
        'pods',
        '--selector=app.kubernetes.io/component=test',
        '--output=name',
      );
      expectThat(pods.trim() === '', `the pod of the test is still there: ${pods}`);
      const after = await countTraces(organisation);
      expectThat(after === before, `rows are left: ${before} before, ${after} after`);
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

const tables = [
  'auth.clients',
  'forms.models',
  'forms.model_versions',
  'forms.retired_keys',
  'transactions.transactions',
  'transactions.records',
  'transactions.receipts',
  'transactions.subjects',
];

/** The rows of the tables in which a consent leaves some. */
export async function countTraces(organisation: Organisation): Promise<string> {
  const counts = tables.map((table) => `'${table}', (SELECT count(*) FROM ${table})`);
  const [[text = ''] = []] = await query(organisation, `SELECT json_build_object(${counts.join(', ')})`);
  return text;
}
