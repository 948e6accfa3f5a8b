import { readdirSync, readFileSync } from 'node:fs';
import { cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseAllDocuments } from 'yaml';
import { findHelm } from '../../infrastructure/helm.ts';
import { execute, MissingInfrastructure } from '../../infrastructure/programs.ts';
import { temporaryFolder } from '../programs/temporary-folder.ts';

const chart = path.join(import.meta.dirname, '..', '..', '..', 'helm');

/** A source of a projected volume. */
export interface SecretSource {
  secret: { name: string; items: { key: string; path: string }[] };
}

export interface Container {
  name: string;
  image: string;
  args?: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef?: { name: string; key: string } } }[];
  volumeMounts?: { name: string; mountPath: string }[];
  resources: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext: Record<string, unknown>;
}

export interface PodSpec {
  automountServiceAccountToken?: boolean;
  securityContext: Record<string, unknown>;
  containers: Container[];
  volumes?: { name: string; projected?: { sources: SecretSource[] }; configMap?: { name: string } }[];
}

/** A resource of Kubernetes, as far as tests read it; helm-schemas.test.ts checks the rest. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  data?: Record<string, string>;
  spec: Record<string, unknown> & { template?: { spec: PodSpec } };
}

/** The files with values that the chart comes with. */
export const examples = readdirSync(path.join(chart, 'examples')).filter((file) => file.endsWith('.yaml'));

/** The stores of the trial, by file. */
export function readTrial(): [string, Manifest[]][] {
  const folder = path.join(chart, 'trial');
  return readdirSync(folder).map((file) => [
    `trial/${file}`,
    readManifests(readFileSync(path.join(folder, file), 'utf8')),
  ]);
}

/**
 * A copy of the chart in which a file has another text.
 * @param change makes that text. @returns the folder of the copy.
 */
export async function copyChart(file: string, change: (text: string) => string): Promise<string> {
  const folder = path.join(await temporaryFolder(), 'helm');
  await cp(chart, folder, { recursive: true, dereference: true });
  const changed = path.join(folder, file);
  await writeFile(changed, change(await readFile(changed, 'utf8')));
  return folder;
}

/** The router of the trial. */
export function readTrialRouter(): Manifest[] {
  return readManifests(readFileSync(path.join(chart, 'trial-router.yaml'), 'utf8'));
}

/**
 * Helm with this chart; null where Helm cannot be had, so that tests are skipped.
 * @param find finds the program. @param more arguments of each rendering.
 */
export async function openChart(find = findHelm, more: readonly string[] = []) {
  const helm = await find().catch((error: unknown) => {
    if (!(error instanceof MissingInfrastructure) || process.env.CI === 'true') throw error;
    console.warn(error.message);
    return null;
  });
  return helm ? openChartWith(helm, more) : null;
}

function openChartWith(helm: string, always: readonly string[]) {
  const run = async (words: readonly string[]) => (await execute(helm, words, { maxBuffer: 1 << 26 })).stdout;
  const valuesOf = (example: string) => ['--values', path.join(chart, 'examples', example)];
  const render = (source: string, example: string, more: readonly string[] = []) =>
    run(['template', 'accord', source, '--namespace', 'consent', ...always, ...valuesOf(example), ...more]);
  return {
    /** Rejects with the faults. */
    lint: (example: string) => run(['lint', '--strict', chart, ...always, ...valuesOf(example)]),
    /** The text of all manifests. @param more arguments of `helm template`. */
    render: (example: string, ...more: string[]) => render(chart, example, more),
    /** The text of all manifests of another chart: a folder or an archive. */
    renderFrom: (source: string, example: string, ...more: string[]) => render(source, example, more),
    /** What Helm prints after an installation. @param more arguments of `helm install`. */
    notes: async (example: string, ...more: string[]) => {
      const words = ['install', 'accord', chart, '--dry-run=client', ...valuesOf(example), ...more];
      return (await run(words)).split(/^NOTES:\n/m)[1] ?? '';
    },
  };
}

/** Reads rendered manifests as Kubernetes does (YAML 1.1). */
export function readManifests(text: string): Manifest[] {
  return parseAllDocuments(text, { version: '1.1' }).flatMap((document) => {
    const [fault] = 'errors' in document ? document.errors : [];
    if (fault) throw fault;
    const manifest = 'toJS' in document ? (document.toJS() as Manifest | null) : null;
    return manifest ? [manifest] : [];
  });
}
