import type { Manifest, PodSpec } from './chart.ts';

/** The pods of Deployments and Jobs, by component. */
export function podsIn(manifests: readonly Manifest[]): Map<string, PodSpec> {
  const pods = manifests.flatMap((manifest): [string, PodSpec][] => {
    const pod =
      manifest.kind === 'Pod' ? (manifest.spec as unknown as PodSpec) : manifest.spec?.template?.spec;
    return pod ? [[manifest.metadata.labels?.['app.kubernetes.io/component'] ?? '', pod]] : [];
  });
  return new Map(pods);
}

/** The environment of the container of a component: the ConfigMap of settings and its own variables. */
export function environmentOf(manifests: readonly Manifest[], component: string): Record<string, string> {
  const settings = manifests.find(({ metadata }) => metadata.name === 'accord-settings')?.data ?? {};
  const own = podsIn(manifests).get(component)?.containers[0]?.env ?? [];
  return { ...settings, ...Object.fromEntries(own.map(({ name, value = '' }) => [name, value])) };
}

/** The files in a projected volume of a component, with the Secret and key of each. */
export function secretFilesOf(
  manifests: readonly Manifest[],
  component: string,
  volumeName = 'secrets',
): Record<string, { name: string; key: string }> {
  const volume = podsIn(manifests)
    .get(component)
    ?.volumes?.find(({ name }) => name === volumeName);
  const files = (volume?.projected?.sources ?? []).flatMap(({ secret }) =>
    secret.items.map(({ key, path }) => [path, { name: secret.name, key }] as const),
  );
  return Object.fromEntries(files);
}

/** An entry of a Secret. */
export interface SecretEntry {
  name: string;
  key: string;
}

/**
 * The entries of Secrets that a pod reads, as variables or files.
 * @throws Error if the pod reads a Secret in another way: the checksum in the template covers these two only.
 */
export function secretEntriesOf(pod: PodSpec | undefined): SecretEntry[] {
  const { containers = [], volumes = [] } = pod ?? {};
  const variables = containers.flatMap(({ env = [] }) =>
    env.flatMap(({ valueFrom }) => (valueFrom?.secretKeyRef ? [valueFrom.secretKeyRef] : [])),
  );
  const files = volumes.flatMap(({ projected }) =>
    (projected?.sources ?? []).flatMap(({ secret }) =>
      secret.items.map(({ key }) => ({ name: secret.name, key })),
    ),
  );
  const text = JSON.stringify(pod).match(/"(secret|secretName|secretRef|secretKeyRef)":/g) ?? [];
  const sources = volumes.flatMap(({ projected }) => projected?.sources ?? []);
  if (text.length !== variables.length + sources.length)
    throw new Error('the pod reads a Secret neither by secretKeyRef nor as projected volume');
  return [...variables, ...files];
}
