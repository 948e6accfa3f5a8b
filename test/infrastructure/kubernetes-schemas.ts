import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cached } from './cache-folder.ts';
import { execute, MissingInfrastructure, tell } from './programs.ts';
import { readZipEntry } from './zip-file.ts';

/** A package of PyPI that contains the JSON Schemas of many versions of Kubernetes. */
const release = '1.37.0';
/** The minor versions that the chart supports (helm/Chart.yaml). */
export const minors = ['1.34', '1.35', '1.36', '1.37'] as const;

/** Definitions of a version of Kubernetes, by name, such as `io.k8s.api.apps.v1.Deployment`. */
export type KubernetesSchema = { $defs: Record<string, Record<string, unknown>> };

/**
 * Reads the schema of a minor version; the first call downloads all of them. @throws MissingInfrastructure
 */
export async function readKubernetesSchema(minor: (typeof minors)[number]): Promise<KubernetesSchema> {
  try {
    const folder = await cached(`kubernetes-schemas-${release}`, download);
    return JSON.parse(await readFile(path.join(folder, `${minor}.json`), 'utf8')) as KubernetesSchema;
  } catch (error) {
    const help = `pip download kubernetes-validate==${release} must work`;
    throw new MissingInfrastructure('The schemas of Kubernetes', [tell(error)], help);
  }
}

async function download(folder: string): Promise<void> {
  const work = await mkdtemp(path.join(tmpdir(), 'accord-schemas-'));
  try {
    const words = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--dest', work];
    await execute('python3', [...words, `kubernetes-validate==${release}`]);
    const [wheel = ''] = await readdir(work);
    const archive = await readFile(path.join(work, wheel));
    for (const minor of minors) {
      const entry = `kubernetes_validate/kubernetes-json-schema/v${minor}.0-local/_definitions.json`;
      await writeFile(path.join(folder, `${minor}.json`), readZipEntry(archive, entry));
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
