import { chmod } from 'node:fs/promises';
import { makeWorkFolder } from '../../../deploy/local/work-folder.ts';

/**
 * Has the tests make their files in memory, if there is room: what they start and stop writes thousands of
 * small ones.
 */
export async function setup(): Promise<() => Promise<void>> {
  const work = await makeWorkFolder('files');
  // As /tmp is: some tests start programs as another user.
  await chmod(work.path, 0o1777);
  process.env.TMPDIR = work.path;
  return () => work.remove();
}
