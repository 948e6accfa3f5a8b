import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * A folder that is removed after the test. @param mode as for chmod; @param uid its owner, when root runs the
 * tests.
 */
export async function temporaryFolder({
  mode = 0o755,
  uid,
}: {
  mode?: number;
  uid?: number;
} = {}): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-test-'));
  await chmod(folder, mode);
  if (uid !== undefined) await chown(folder, uid, uid);
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  return folder;
}
