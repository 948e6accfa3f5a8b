import { availableParallelism } from 'node:os';
import { kubernetesVersion, traefikVersion } from '../infrastructure/cluster/go-programs.ts';
import type { LocalImage } from '../infrastructure/image.ts';
import { execute, tell } from '../infrastructure/programs.ts';
import type { Scenario } from './scenario.ts';

/** What became of a scenario. */
export interface Result extends Pick<Scenario, 'name' | 'isQuick' | 'promise' | 'note'> {
  figures: string;
  seconds: number;
  error: Error | undefined;
}

interface Run extends Pick<LocalImage, 'base'> {
  /** As it was typed. */
  command: string;
  /** From the start of the command, with what it had to build. */
  seconds: number;
  /** The commit that was tried; undefined outside a working tree of Git. */
  commit: string | undefined;
}

/** The page docs/kubernetes-verified.md. */
export function writeReport(results: readonly Result[], { base, command, seconds, commit }: Run): string {
  const rows = results.map(
    ({ promise, figures, error, seconds: took }) =>
      `| ${promise} | ${error ? `**failed**: ${tell(error)}` : figures} | ${took.toFixed(0)} |`,
  );
  const quick = results.filter(({ isQuick }) => isQuick);
  const minutes = (sum: number) => `${Math.max(1, Math.round(sum / 60))} minutes`;
  const quickSeconds = quick.reduce((sum, { seconds: took }) => sum + took, 0);
  const notes = new Set(results.flatMap(({ note }) => note ?? []));
  return [
    '# The chart on a real cluster',
    '',
    `\`${command}\` has written this page in one run of ${minutes(seconds)}, on ${new Date().toISOString().slice(0, 10)}${commit ? ` at the commit ${commit}` : ''}.`,
    `It starts Kubernetes ${kubernetesVersion} with one node on this machine (${availableParallelism()} processors), Traefik ${traefikVersion} as router,`,
    'metrics-server and enforced NetworkPolicies, installs the [chart](../helm) beside the stores of `helm/trial` in a namespace with',
    '`pod-security.kubernetes.io/enforce=restricted`, and tries what the chart promises. Load, stores and control plane share the processors.',
    ...(base === 'public'
      ? []
      : [
          'The base image of Node.js, PostgreSQL, Kafka, Redis and nginx were stand-ins made of the packages of Debian, npm and Maven.',
        ]),
    '',
    `\`npm run test:cluster\` without \`--all\` tries only ${quick.map(({ name }) => name).join(', ')}: here ${minutes(quickSeconds)}, beside the start of the cluster.`,
    '',
    '| Promise | Result | Seconds |',
    '|---|---|---:|',
    ...rows,
    ...[...notes].flatMap((note) => ['', note]),
    '',
  ].join('\n');
}

/** The commit of the working tree, and whether files differ from it. */
export async function readCommit(): Promise<string | undefined> {
  const git = async (...words: string[]) => (await execute('git', words)).stdout.trim();
  try {
    const commit = await git('rev-parse', '--short', 'HEAD');
    return (await git('status', '--porcelain', '--untracked-files=no')) ? `${commit} with changes` : commit;
  } catch {
    return undefined;
  }
}
