import { access, chmod, constants, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeWorkFolder } from '../../infrastructure/work-folder.ts';

/**
 * Puts temporary files in memory, if there is room and programs can be run from there: what tests start and
 * stop writes thousands of small files.
 */
export async function setup(): Promise<() => Promise<void>> {
  const work = await makeWorkFolder('files');
  // As /tmp is: some tests start programs as another user.
  await chmod(work.path, 0o1777);
  if (await canRunPrograms(work.path)) process.env.TMPDIR = work.path;
  return () => work.remove();
}

/** False on a file system that is mounted with `noexec`, as /dev/shm is in containers (mount(8)). */
async function canRunPrograms(folder: string): Promise<boolean> {
  const program = path.join(folder, 'program');
  await writeFile(program, '#!/bin/sh\n', { mode: 0o755 });
  const tried = access(program, constants.X_OK);
  return tried.then(
    () => true,
    () => false,
  );
}
