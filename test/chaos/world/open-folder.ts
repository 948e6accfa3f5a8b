import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** A folder of a world's own. As root, PostgreSQL runs as a user who must be able to enter. */
export async function openFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-chaos-'));
  await chmod(folder, 0o755);
  return folder;
}
