import { type Organisation, query, release, services } from '../organisation.ts';
import { expectThat, type Scenario } from '../scenario.ts';

/** Where the kubelet mounts the token of a service account. */
const tokenFolder = '/var/run/secrets/kubernetes.io';

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
      '`helm test` tries a whole consent, passes, and leaves no pod and, in all tables, no row but those of the audit log and of events.',
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
        // A command that cannot run says nothing about the token.
        const command = `if [ -e ${tokenFolder} ]; then echo present; else echo missing; fi`;
        const words = ['exec', `deploy/${release}-${service}`, '--', 'sh', '-euc', command];
        const found = (await organisation.kubectl(...words)).trim();
        expectThat(found === 'missing', `the token of ${service} is ${found}`);
      }
      const jobs = await organisation.kubectl('get', 'jobs', '--output=name');
      expectThat(jobs.trim() === '', `Jobs are left: ${jobs}`);
      return `${services.length} services`;
    },
  },
];

/** Tables of the audit log (docs/evidence.md) and of events. */
const kept = [
  ...['audit_log', 'audit_tree', 'audit_heads', 'checkpoints', 'signed_receipts'],
  ...['outbox', 'outbox_sent', 'inbox'],
];
/** What changes without the test: sign-ins of others expire, and a service reports its channels. */
const changing = ['issuer_items', 'sign_in_tries', 'message_channels'];

/** The rows of all tables but those of the audit log and of events. */
export async function countTraces(organisation: Organisation): Promise<string> {
  const list = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ');
  const tables = await query(
    organisation,
    `SELECT schemaname || '.' || tablename FROM pg_tables
      WHERE schemaname IN (${list(services)}) AND tablename NOT IN (${list([...kept, ...changing])}) ORDER BY 1`,
  );
  expectThat(tables.length > 40, `the database has only ${tables.length} tables`);
  const counts = tables.map(([table]) => `SELECT '${table}' AS name, count(*) FROM ${table}`);
  const rows = await query(organisation, `${counts.join(' UNION ALL ')} ORDER BY 1`);
  return rows.map(([table, count]) => `${table} ${count}`).join(', ');
}
