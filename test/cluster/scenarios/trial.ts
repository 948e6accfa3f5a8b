import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execute } from '../../infrastructure/programs.ts';
import { organisationOf } from '../organisation.ts';
import { type Scenario, type Stage, waitUntil } from '../scenario.ts';
import { useConsole } from './console.ts';
import { giveFirstConsent } from './first-consent.ts';

const namespace = 'trial';

/** What a newcomer does on a cluster of their own. */
export const trialScenarios: Scenario[] = [
  {
    name: 'trial',
    promise:
      'The commands at the head of `helm/examples/trial.yaml`, run as they stand, bring up a trial with a router of its own; through it the README’s first consent is given and an administrator signs in to the console.',
    async run(stage) {
      const folder = await mkdtemp(path.join(tmpdir(), 'accord-trial-'));
      try {
        return await tryTrial(stage, folder);
      } finally {
        await rm(folder, { recursive: true });
        const words = ['delete', 'namespace', namespace, '--wait=false', '--ignore-not-found'];
        await stage.cluster.kubectl.run(words);
      }
    },
  },
];

async function tryTrial(stage: Stage, folder: string): Promise<string> {
  const started = performance.now();
  const terminal = await openTerminal(stage, folder);
  const lines = await readCommands(stage.chart);
  const forward = lines.pop() as string;
  await execute('sh', ['-euc', lines.join('\n')], { ...terminal, maxBuffer: 1 << 26 });
  const forwarding = spawn('sh', ['-euc', `exec ${forward}`], { ...terminal, stdio: 'ignore' });
  try {
    const url = 'http://localhost:8080';
    await waitUntil('the port is forwarded', async () => (await fetch(`${url}/system/config`)).ok);
    const seconds = (performance.now() - started) / 1000;
    const organisation = organisationOf(stage, namespace, url);
    const consent = await giveFirstConsent({ ...stage, organisation });
    return `after ${seconds.toFixed(0)} s; ${consent}, ${await useConsole(organisation)} of the console`;
  } finally {
    const ended = once(forwarding, 'exit');
    forwarding.kill();
    await ended;
  }
}

/** The working folder of a project and a shell whose kubectl and helm work in the namespace. */
async function openTerminal({ cluster, helm, chart }: Stage, folder: string) {
  const project = path.dirname(chart);
  for (const name of ['helm', 'deploy']) await symlink(path.join(project, name), path.join(folder, name));
  const kubeconfig = path.join(folder, 'kubeconfig');
  await copyFile(cluster.node.kubeconfig, kubeconfig);
  const programs = [cluster.program, helm].map((program) => path.dirname(program));
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    PATH: [...programs, process.env.PATH].join(path.delimiter),
  };
  await cluster.kubectl.run(['create', 'namespace', namespace]);
  await execute(cluster.program, ['config', 'set-context', '--current', `--namespace=${namespace}`], { env });
  return { cwd: folder, env };
}

/** The commands in the comment at the head of the example. */
async function readCommands(chart: string): Promise<string[]> {
  const example = await readFile(path.join(chart, 'examples/trial.yaml'), 'utf8');
  return example.split('\n').flatMap((line) => /^# {3}(\S.*)$/.exec(line)?.[1] ?? []);
}
