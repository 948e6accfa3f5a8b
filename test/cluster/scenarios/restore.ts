import { startLoad } from '../load.ts';
import { type Organisation, query, waitForRouter } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { expectEvents } from './another-kafka.ts';

const folder = '/var/lib/postgresql/data';

/** The worst case: the database and Kafka are lost. */
export const restoreScenarios: Scenario[] = [
  {
    name: 'restore',
    promise:
      'After a loss of Kafka and of the database, a restore to a point in time has every earlier answer and no later one, and the services work.',
    run: restore,
  },
];

async function restore(stage: Stage): Promise<string> {
  const { organisation, form, router } = stage;
  const { kubectl } = organisation;
  await backUp(organisation);
  const before = await startLoad(form, { perSecond: 2 }).stop();
  // The clock of the server, because it decides what was before.
  await query(organisation, 'SELECT pg_sleep(1)');
  const point = (await query(organisation, 'SELECT now()'))[0]?.[0] as string;
  await query(organisation, 'SELECT pg_sleep(1)');
  const after = await startLoad(form, { perSecond: 2 }).stop();
  const failures = [...before.failures, ...after.failures];
  expectThat(failures.length === 0, `a flow failed: ${failures[0]}`);
  await archiveAll(organisation);

  await kubectl('scale', 'deploy', '--selector=app.kubernetes.io/instance=accord', '--replicas=0');
  for (const store of ['kafka', 'postgres']) {
    await kubectl('scale', `statefulset/trial-${store}`, '--replicas=0');
    await kubectl('wait', `pod/trial-${store}-0`, '--for=delete', '--timeout=120s');
  }
  await kubectl('delete', 'pvc/data-trial-kafka-0');
  const started = performance.now();
  await replaceData(organisation, point);
  for (const store of ['kafka', 'postgres']) {
    await kubectl('scale', `statefulset/trial-${store}`, '--replicas=1');
    await kubectl('rollout', 'status', `statefulset/trial-${store}`, '--timeout=180s');
  }
  await waitUntil(
    'the database has been recovered',
    async () => (await query(organisation, 'SELECT pg_is_in_recovery()'))[0]?.[0] === 'f',
  );
  await organisation.deploy({ topics: { refill: true } });
  await waitForRouter(organisation, router);
  const seconds = (performance.now() - started) / 1000;

  const rows = await query(organisation, 'SELECT DISTINCT subject FROM transactions.records');
  const stored = new Set(rows.map(([subject]) => subject));
  const lost = [...before.acknowledged].filter((subject) => !stored.has(subject));
  const kept = [...after.acknowledged].filter((subject) => stored.has(subject));
  expectThat(lost.length === 0, `${lost.length} answers from before the point in time are lost`);
  expectThat(kept.length === 0, `${kept.length} answers from after the point in time are there`);
  await expectEvents(stage);
  return `${before.acknowledged.size} earlier answers are there, ${after.acknowledged.size} later ones are not; from the empty volume to a ready release ${seconds.toFixed(0)} s`;
}

/** Archives the write-ahead log from now on, and makes a base backup. */
async function backUp(organisation: Organisation): Promise<void> {
  const { kubectl } = organisation;
  const inPod = (script: string) => kubectl('exec', 'trial-postgres-0', '--', 'sh', '-euc', script);
  await inPod(`mkdir -p ${folder}/archive`);
  await query(organisation, 'ALTER SYSTEM SET archive_mode = on');
  await query(organisation, `ALTER SYSTEM SET archive_command = 'cp %p ${folder}/archive/%f'`);
  await kubectl('delete', 'pod/trial-postgres-0');
  await kubectl('rollout', 'status', 'statefulset/trial-postgres', '--timeout=120s');
  await inPod(`pg_basebackup --username=postgres --checkpoint=fast --pgdata=${folder}/backup`);
  await waitUntil('the services are ready', async () => {
    await kubectl('wait', 'pods', '--selector=app.kubernetes.io/instance=accord', '--for=condition=Ready');
    return true;
  });
}

/** Waits until the archive has all that was written until now. */
async function archiveAll(organisation: Organisation): Promise<void> {
  const name = (await query(organisation, 'SELECT pg_walfile_name(pg_switch_wal())'))[0]?.[0] as string;
  await waitUntil('the archive is complete', async () => {
    const statement = `SELECT last_archived_wal >= '${name}' FROM pg_stat_archiver`;
    return (await query(organisation, statement))[0]?.[0] === 't';
  });
}

/** Replaces the data of the stopped database by the backup, which is recovered up to a point in time. */
async function replaceData({ kubectl, name: namespace }: Organisation, point: string): Promise<void> {
  const settings = [
    `restore_command = 'cp ${folder}/archive/%f %p'`,
    `recovery_target_time = '${point}'`,
    "recovery_target_action = 'promote'",
  ];
  const script = [
    `cd ${folder}`,
    'rm -rf accord',
    'mv backup accord',
    `printf '%s\\n' ${settings.map((line) => `"${line}"`).join(' ')} >> accord/postgresql.auto.conf`,
    'touch accord/recovery.signal',
  ].join(' && ');
  const image = await kubectl(
    'get',
    'statefulset/trial-postgres',
    '--output=jsonpath={.spec.template.spec.containers[0].image}',
  );
  const spec = {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 999,
      runAsGroup: 999,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    containers: [
      {
        name: 'restore',
        image,
        command: ['sh', '-euc', script],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        volumeMounts: [{ name: 'data', mountPath: folder }],
      },
    ],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-trial-postgres-0' } }],
  };
  const overrides = JSON.stringify({ apiVersion: 'v1', spec });
  await kubectl('run', 'restore', `--image=${image}`, '--restart=Never', `--overrides=${overrides}`);
  await kubectl('wait', 'pod/restore', '--for=jsonpath={.status.phase}=Succeeded', '--timeout=120s');
  await kubectl('delete', 'pod/restore', `--namespace=${namespace}`);
}
