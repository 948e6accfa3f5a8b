import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { compareWithRecords, type Load, startLoad } from '../load.ts';
import { release, services } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';

const upgradeFlowsPerSecond = 50;
/** Of other events: each processor carries a part, beside stores, control plane and pods that start. */
const perSecond = Number(process.env.FLOWS_PER_SECOND ?? Math.min(50, 3 * availableParallelism()));

const waitingNote =
  'Whatever replaces the pods of all services at once takes all of two processors for some seconds. By default a service then rejects requests that would wait for more than two seconds (503, `Retry-After`). This test lets them wait instead (`MAX_EVENT_LOOP_DELAY=0`, `MAX_QUEUE_WAIT=30000`; [Upgrade and rollback](kubernetes.md#upgrade-and-rollback-)). In earlier runs a rollback at 50 flows a second, instead of the smaller load here, failed requests in one of two. A node with more processors has not been tried.';
const killedNote =
  'A killed process takes along the requests that it was answering, and for about a second, until the kubelet has started it again, the router sends it a share of the requests and answers 502. Services repeat their calls of one another at another replica, so that a killed process of auth or forms interrupts nothing. The router calls transactions itself, and this one repeats nothing. A router that tries another pod if a connection is refused (the default of ingress-nginx) leaves the requests that were being answered. A client may repeat every step: answers that were stored are confirmed again.';
const awayNote =
  'The pod of a store that is away was killed after a second and was not there during that minute. Without PostgreSQL every step of a flow is answered with 503, so that flows are interrupted; without Kafka or Redis they go on.';

/** What must not disturb subjects: nothing fails, nothing is lost. */
export const quietScenarios: Scenario[] = [
  {
    name: 'upgrade',
    isQuick: true,
    promise: '`helm upgrade` to another image with one more migration fails no request.',
    note: waitingNote,
    run: (stage) =>
      withoutFailure(
        stage,
        async () => {
          await stage.organisation.deploy({ image: { tag: stage.nextTag } });
        },
        upgradeFlowsPerSecond,
      ),
  },
  {
    name: 'rollback',
    isQuick: true,
    promise: '`helm rollback` to the version before, over the migration, fails no request.',
    run: (stage) =>
      withoutFailure(stage, async () => {
        await stage.organisation.helm('rollback', release, '--wait', '--timeout=5m');
      }),
  },
  ...services.map(
    (service): Scenario => ({
      name: `delete a pod of ${service}`,
      promise: `A deleted pod of ${service} fails no request.`,
      run: (stage) =>
        withoutFailure(stage, async () => {
          const { kubectl } = stage.organisation;
          const selector = `--selector=app.kubernetes.io/component=${service}`;
          const [pod = ''] = (await kubectl('get', 'pods', selector, '--output=name')).trim().split('\n');
          await kubectl('delete', pod);
          await kubectl('rollout', 'status', `deploy/${release}-${service}`, '--timeout=120s');
        }),
    }),
  ),
];

/** What may interrupt subjects: acknowledged answers are stored, once. */
export const faultScenarios: Scenario[] = [
  ...services.map(
    (service): Scenario => ({
      name: `kill a process of ${service}`,
      promise: `After kill -9 of a process of ${service} its container is started again, and no acknowledged answer is lost or stored twice.`,
      note: killedNote,
      run: (stage) =>
        withoutLoss(stage, async () => {
          const before = await countRestarts(stage, service);
          await killProcess(stage, `services/${service}/main.ts`);
          await waitUntil(
            `a pod of ${service} restarts its container`,
            async () => (await countRestarts(stage, service)) === before + 1,
          );
          const { kubectl } = stage.organisation;
          await kubectl('rollout', 'status', `deploy/${release}-${service}`, '--timeout=120s');
        }),
    }),
  ),
  ...(['statefulset/trial-kafka', 'deployment/trial-redis', 'statefulset/trial-postgres'] as const).map(
    (store): Scenario => ({
      name: `no ${store.split('-')[1]}`,
      promise: `While ${store.split('-')[1]} is away for 60 seconds, without a pod, no acknowledged answer is lost or stored twice; afterwards the services work.`,
      note: awayNote,
      run: (stage) =>
        withoutLoss(stage, async () => {
          const { kubectl } = stage.organisation;
          await kubectl('scale', store, '--replicas=0');
          const name = store.split('/')[1] as string;
          await killPods(stage, name);
          await pause(60_000);
          expectThat((await podsOf(stage, name)) === '', `${name} was not away`);
          await kubectl('scale', store, '--replicas=1');
          await kubectl('rollout', 'status', store, '--timeout=180s');
          for (const service of services)
            await kubectl('rollout', 'status', `deploy/${release}-${service}`, '--timeout=180s');
        }),
    }),
  ),
];

/**
 * Runs an event under load.
 * @returns figures.
 * @throws if a request fails or an answer is lost or stored twice
 */
export async function withoutFailure(
  stage: Stage,
  event: () => Promise<void>,
  flows = perSecond,
): Promise<string> {
  const { load, seconds } = await loadDuring(stage, event, flows);
  await expectStored(stage, load);
  for (const failure of load.failures.slice(0, 10)) stage.say(failure);
  expectThat(
    load.failures.length === 0,
    `${load.failures.length} of ${load.flows} flows failed, such as: ${load.failures[0]}`,
  );
  return `${describe(load)}; the event took ${seconds.toFixed(0)} s`;
}

/** Runs an event under load. @returns figures. @throws if an acknowledged answer is lost or stored twice */
export async function withoutLoss(stage: Stage, event: () => Promise<void>): Promise<string> {
  return (await interruptionsDuring(stage, event)).figures;
}

/** As {@link withoutLoss}. @returns also how many flows were interrupted. */
export async function interruptionsDuring(
  stage: Stage,
  event: () => Promise<void>,
): Promise<{ figures: string; interrupted: number }> {
  const { load, seconds } = await loadDuring(stage, event, perSecond);
  await expectStored(stage, load);
  const interrupted = load.failures.length;
  for (const failure of load.failures.slice(0, 10)) stage.say(failure);
  const figures = `${describe(load)}, ${interrupted} flows interrupted; the event took ${seconds.toFixed(0)} s`;
  return { figures, interrupted };
}

/** Runs flows for some seconds. @throws if a flow fails, or an answer is lost or stored twice */
export async function expectFlows(stage: Stage, seconds: number): Promise<Load> {
  const running = startLoad(stage.form, { perSecond: 2 });
  await pause(seconds * 1000);
  const load = await running.stop();
  expectThat(load.failures.length === 0, `a flow failed: ${load.failures[0]}`);
  await expectStored(stage, load);
  return load;
}

async function expectStored({ organisation, form }: Stage, load: Load): Promise<void> {
  const { lost, doubled } = await compareWithRecords(organisation, form, load);
  expectThat(lost.length === 0, `${lost.length} answers are lost, such as that of ${lost[0]}`);
  expectThat(
    doubled.length === 0,
    `${doubled.length} answers are stored twice, such as that of ${doubled[0]}`,
  );
}

/** A load that runs before, during and after an event. */
async function loadDuring(
  stage: Stage,
  event: () => Promise<void>,
  flows: number,
): Promise<{ load: Load; seconds: number }> {
  const running = startLoad(stage.form, { perSecond: flows });
  await pause(3_000);
  const started = performance.now();
  try {
    await event();
  } catch (error) {
    await running.stop();
    throw error;
  }
  const seconds = (performance.now() - started) / 1000;
  await pause(5_000);
  const load = await running.stop();
  // A flow succeeds again.
  await waitUntil('a flow after the event', async () => {
    const single = startLoad(stage.form, { perSecond: 1 });
    const { failures } = await single.stop();
    if (failures.length > 0) throw new Error(failures[0]);
    return true;
  });
  return { load, seconds };
}

function describe({ flows, seconds, submits }: Load): string {
  const sorted = submits.toSorted((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  return `${flows} flows at ${(flows / seconds).toFixed(0)} a second, submit p99 ${p99.toFixed(0)} ms`;
}

/** Ends the pods of a store within a second, by SIGKILL if need be, and waits until they are gone. */
async function killPods(stage: Stage, name: string): Promise<void> {
  const selector = `--selector=app.kubernetes.io/name=${name}`;
  const options = ['--grace-period=1', '--ignore-not-found', '--wait=false'];
  await stage.organisation.kubectl('delete', 'pods', selector, ...options);
  await waitUntil(`${name} is away`, async () => (await podsOf(stage, name)) === '', 30_000);
}

async function podsOf({ organisation }: Stage, name: string): Promise<string> {
  const selector = `--selector=app.kubernetes.io/name=${name}`;
  return (await organisation.kubectl('get', 'pods', selector, '--output=name')).trim();
}

/** How often containers of a service were started again in their pods. */
export async function countRestarts({ organisation }: Stage, service: string): Promise<number> {
  const selector = `--selector=app.kubernetes.io/component=${service}`;
  const counts = '--output=jsonpath={.items[*].status.containerStatuses[*].restartCount}';
  const text = await organisation.kubectl('get', 'pods', selector, counts);
  return text.split(' ').reduce((sum, count) => sum + Number(count), 0);
}

/** Kills the newest process that runs a program: after an update older ones may be stopping. */
export async function killProcess({ cluster }: Stage, program: string): Promise<void> {
  const pid = (await cluster.node.enter('pgrep', ['--newest', '--full', program])).trim();
  await cluster.node.enter('kill', ['-9', pid]);
}
