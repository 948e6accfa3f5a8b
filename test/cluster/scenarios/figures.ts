import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuSeconds, residentMegabytes } from '../../../bench/process-usage.ts';
import { startLoad } from '../load.ts';
import { services } from '../organisation.ts';
import { expectThat, type Scenario, type Stage } from '../scenario.ts';

const seconds = 30;
const perSecond = Number(process.env.FLOWS_PER_SECOND ?? 50);

/** What the services use. */
export const figureScenarios: Scenario[] = [
  {
    name: 'figures',
    promise: 'CPU and memory of the services, at rest and under load.',
    note: 'Outside the cluster one process of each service takes 7.4 ms of CPU for a flow at 50 a second: `npm run bench:distributed -- --rate 50` at the commit 3406842, on a machine with two cores. On the cluster two replicas of each service run; what they take at rest is part of the figure above.',
    run: measure,
  },
];

async function measure({ form, organisation }: Stage): Promise<string> {
  const pids = await findProcesses();
  for (const service of services) expectThat(pids[service]?.length, `no process of ${service} was found`);
  const memory = () => mapValues(pids, (each) => Math.max(...each.map(residentMegabytes)));
  const cpu = () =>
    Object.values(pids)
      .flat()
      .reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const atRest = memory();
  const before = cpu();
  await pause(10_000);
  const idle = (cpu() - before) / 10;
  // The services compile what they run often.
  const warmUp = startLoad(form, { perSecond });
  await pause(seconds * 1000);
  await warmUp.stop();
  const start = cpu();
  const load = startLoad(form, { perSecond });
  await pause(seconds * 1000);
  const underLoad = memory();
  const { flows, failures, seconds: took } = await load.stop();
  const used = cpu() - start;
  expectThat(failures.length === 0, `${failures.length} of ${flows} flows failed: ${failures[0]}`);
  const limits = JSON.parse(await organisation.kubectl('get', 'deploy', '--output=json')) as {
    items: {
      metadata: { name: string };
      spec: { template: { spec: { containers: { resources: { limits: { memory: string } } }[] } } };
    }[];
  };
  const limitOf = (service: string) =>
    limits.items.find(({ metadata }) => metadata.name.endsWith(`-${service}`))?.spec.template.spec
      .containers[0]?.resources.limits.memory;
  const megabytes = services.map(
    (service) =>
      `${service} ${atRest[service]?.toFixed(0)} → ${underLoad[service]?.toFixed(0)} MB of ${limitOf(service)}`,
  );
  return `${(flows / used).toFixed(0)} flows per CPU second of the services (${((used / flows) * 1000).toFixed(1)} ms a flow at ${(flows / took).toFixed(0)} a second; ${(idle * 100).toFixed(0)} % of a processor at rest); a replica at rest → under load, of its limit: ${megabytes.join(', ')}`;
}

/** The processes of each service in pods, as this machine numbers them. */
async function findProcesses(): Promise<Record<string, number[]>> {
  const found: Record<string, number[]> = {};
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const read = (file: string) => readFile(`/proc/${entry}/${file}`, 'utf8').catch(() => '');
    const service = /services\/(\w+)\/main\.ts/.exec(await read('cmdline'))?.[1];
    if (!service || !(await read('cgroup')).includes('kubepods')) continue;
    found[service] = [...(found[service] ?? []), Number(entry)];
  }
  return found;
}

function mapValues<A, B>(values: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}
