import { type Organisation, query } from './organisation.ts';
import { waitUntil } from './scenario.ts';

const folder = '/var/lib/postgresql/data';

/** Archives the write-ahead log from now on, and makes a base backup. */
export async function backUp(organisation: Organisation): Promise<void> {
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
export async function archiveAll(organisation: Organisation): Promise<void> {
  const name = (await query(organisation, 'SELECT pg_walfile_name(pg_switch_wal())'))[0]?.[0] as string;
  await waitUntil('the archive is complete', async () => {
    const statement = `SELECT last_archived_wal >= '${name}' FROM pg_stat_archiver`;
    return (await query(organisation, statement))[0]?.[0] === 't';
  });
}

/** Replaces the data of the stopped database by the backup, which is recovered up to a point in time. */
export async function replaceData({ kubectl, name: namespace }: Organisation, point: string): Promise<void> {
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
