import { archiveAll, backUp, replaceData } from '../backup.ts';
import { type Organisation, query, release, waitForRouter } from '../organisation.ts';
import { expectSameRecords, readRecords } from '../records.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { expectEvents } from './another-kafka.ts';
import { expectFlows } from './under-load.ts';

const ofRelease = `--selector=app.kubernetes.io/instance=${release}`;
/** One service has an autoscaler, which leaves a Deployment without replicas alone. */
const values = {
  services: { transactions: { autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 3 } } },
};

/** The worst case: the database and Kafka are lost. */
export const restoreScenarios: Scenario[] = [
  {
    name: 'restore',
    promise:
      'After a loss of Kafka and of the database, a restore to a point in time has every earlier record as it was and no later one, every service runs, one with autoscaling too, and an erasure from after that point in time is repeated.',
    async run(stage) {
      const { organisation } = stage;
      try {
        await organisation.deploy(values);
        return await restore(stage);
      } finally {
        await organisation.deploy({}, ['--force-conflicts']);
      }
    },
  },
];

async function restore(stage: Stage): Promise<string> {
  const { organisation, router } = stage;
  await backUp(organisation);
  const before = await expectFlows(stage, 5);
  const [erased = ''] = before.acknowledged;
  // The clock of the server, because it decides what was before.
  await query(organisation, 'SELECT pg_sleep(1)');
  const point = (await query(organisation, 'SELECT now()'))[0]?.[0] as string;
  const records = await readRecords(organisation);
  await query(organisation, 'SELECT pg_sleep(1)');
  const after = await expectFlows(stage, 5);
  const erasures = await erase(organisation, erased);
  await archiveAll(organisation);

  await loseStores(organisation);
  const started = performance.now();
  await replaceData(organisation, point);
  await startStores(organisation);
  await startAutoscaled(organisation);
  await organisation.deploy({ ...values, topics: { refill: true } });
  await waitForRouter(organisation, router);
  const seconds = (performance.now() - started) / 1000;

  const restored = await readRecords(organisation);
  expectSameRecords(records, restored);
  const later = restored.size - records.size;
  expectThat(later === 0, `${later} records from after the point in time are there`);
  const ready = '--output=jsonpath={.status.readyReplicas}';
  const pods = await organisation.kubectl('get', `deploy/${release}-transactions`, ready);
  expectThat(Number(pods) >= 2, `the service with autoscaling has ${pods || 'no'} ready pods`);
  await reapply(organisation, erasures, erased);
  await expectFlows(stage, 5);
  await expectEvents(stage);
  return `${records.size} earlier records are the same, ${after.acknowledged.size} later answers are not there; from the empty volume to a ready release ${seconds.toFixed(0)} s`;
}

/** Stops the services, then loses the topics and the server of the database. */
async function loseStores({ kubectl }: Organisation): Promise<void> {
  await kubectl('scale', 'deploy', ofRelease, '--replicas=0');
  for (const store of ['kafka', 'postgres']) {
    await kubectl('scale', `statefulset/trial-${store}`, '--replicas=0');
    await kubectl('wait', `pod/trial-${store}-0`, '--for=delete', '--timeout=120s');
  }
  await kubectl('delete', 'pvc/data-trial-kafka-0');
}

async function startStores(organisation: Organisation): Promise<void> {
  for (const store of ['kafka', 'postgres']) {
    await organisation.kubectl('scale', `statefulset/trial-${store}`, '--replicas=1');
    await organisation.kubectl('rollout', 'status', `statefulset/trial-${store}`, '--timeout=180s');
  }
  await waitUntil(
    'the database has been recovered',
    async () => (await query(organisation, 'SELECT pg_is_in_recovery()'))[0]?.[0] === 'f',
  );
}

/** Gives each Deployment with an autoscaler its smallest number of pods, as docs/kubernetes.md does. */
async function startAutoscaled({ kubectl }: Organisation): Promise<void> {
  const each = '{range .items[*]}{.spec.scaleTargetRef.name} {.spec.minReplicas}{"\\n"}{end}';
  const lines = (await kubectl('get', 'hpa', ofRelease, `--output=jsonpath=${each}`)).trim().split('\n');
  expectThat(lines.length === 1 && lines[0], `there is not one autoscaler: ${lines.join(', ')}`);
  for (const line of lines) {
    const [name, number] = line.split(' ');
    await kubectl('scale', `deploy/${name}`, `--replicas=${number}`);
  }
}

/** Erases a subject, and waits until it is done. @returns the list that is saved with backups */
async function erase(organisation: Organisation, subject: string): Promise<string> {
  const { token } = await organisation.signIn();
  const authorisation = { Authorization: `Bearer ${token}` };
  const url = `${organisation.url}/subjects/${subject}/erasure`;
  const started = await fetch(url, { method: 'POST', headers: authorisation });
  expectThat(started.status === 202, `the erasure is answered with ${started.status}`);
  await waitUntil('the subject is erased', async () => (await countRecords(organisation, subject)) === 0);
  const list = await fetch(`${organisation.url}/erasures`, {
    headers: { ...authorisation, Accept: 'application/x-ndjson' },
  });
  expectThat(list.ok, `the list of erasures is answered with ${list.status}`);
  return list.text();
}

async function reapply(organisation: Organisation, erasures: string, subject: string): Promise<void> {
  expectThat((await countRecords(organisation, subject)) > 0, 'the restored subject has no record');
  const command = `printf '%s' '${erasures}' | accord erasures reapply -`;
  await organisation.kubectl('exec', `deploy/${release}-transactions`, '--', 'sh', '-euc', command);
  await waitUntil('the erasure is repeated', async () => (await countRecords(organisation, subject)) === 0);
}

async function countRecords(organisation: Organisation, subject: string): Promise<number> {
  const statement = `SELECT count(*) FROM transactions.records WHERE subject = '${subject}'`;
  return Number((await query(organisation, statement))[0]?.[0]);
}
