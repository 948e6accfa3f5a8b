import { availableParallelism } from 'node:os';
import { kubernetesVersion, traefikVersion } from '../../deploy/local/cluster/go-programs.ts';
import type { LocalImage } from '../../deploy/local/image.ts';
import { tell } from '../../deploy/local/programs.ts';

interface Result {
  name: string;
  promise: string;
  figures: string;
  seconds: number;
  error: Error | undefined;
}

/** The page docs/kubernetes-verified.md. */
export function writeReport(results: readonly Result[], { base }: Pick<LocalImage, 'base'>): string {
  const rows = results.map(
    ({ promise, figures, error, seconds }) =>
      `| ${promise} | ${error ? `**failed**: ${tell(error)}` : figures} | ${seconds.toFixed(0)} |`,
  );
  return `# The chart on a real cluster

\`npm run test:cluster\` writes this page. It starts Kubernetes ${kubernetesVersion} with one node on this machine (${availableParallelism()} processors), Traefik ${traefikVersion} as router,
metrics-server and enforced NetworkPolicies, installs the [chart](../helm) beside the stores of \`helm/trial\` in a namespace with
\`pod-security.kubernetes.io/enforce=restricted\`, and tries what the chart promises. Load, stores and control plane share the processors.
${base === 'public' ? '' : 'The base image of Node.js, PostgreSQL, Kafka and Redis were stand-ins made of the packages of Debian, npm and Maven.\n'}
| Promise | Result | Seconds |
|---|---|---:|
${rows.join('\n')}
`;
}
