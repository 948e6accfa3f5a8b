import { copyFile, lstat, mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findHelm } from './helm.ts';
import { execute } from './programs.ts';

/**
 * Makes the archive of the chart from the files that git tracks in `helm`, all dated with the newest commit:
 * two working trees of one commit give the same bytes. Helm 4 writes the dates of files into the archive.
 * @param root the working tree; @param destination the folder of the archive.
 * @returns the path of the archive. @throws MissingInfrastructure without Helm
 */
export async function packChart(root: string, destination: string): Promise<string> {
  const helm = await findHelm();
  const git = async (...words: string[]) => (await execute('git', ['-C', root, ...words])).stdout;
  const date = Number(await git('log', '-1', '--format=%ct'));
  const tracked = (await git('ls-files', '-z', 'helm')).split('\0').filter(Boolean);
  const work = await mkdtemp(path.join(tmpdir(), 'accord-chart-'));
  try {
    for (const file of tracked) {
      const target = path.join(work, file);
      await mkdir(path.dirname(target), { recursive: true });
      // A symbolic link to a file beside the chart becomes a file.
      await copyFile(path.join(root, file), target);
    }
    await setDates(path.join(work, 'helm'), date);
    const { stdout } = await execute(helm, [
      'package',
      path.join(work, 'helm'),
      '--destination',
      destination,
    ]);
    return path.join(destination, path.basename(stdout.trim()));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function setDates(file: string, seconds: number): Promise<void> {
  if ((await lstat(file)).isDirectory())
    for (const name of await readdir(file)) await setDates(path.join(file, name), seconds);
  await utimes(file, seconds, seconds);
}
