import type { LocalServer } from '../../../deploy/local/local-server.ts';
import { MissingInfrastructure } from '../../../deploy/local/programs.ts';
import { startLocalRedis } from '../../../deploy/local/redis.ts';

/**
 * A Redis of the test file's own, which it may kill: starting one takes 20 ms. Null where it cannot be had,
 * which is told; in CI that is a failure. @param more settings, as for `startLocalRedis`.
 */
export async function startTestRedis(more: readonly string[] = []): Promise<LocalServer | null> {
  try {
    return await startLocalRedis(more);
  } catch (error) {
    if (!(error instanceof MissingInfrastructure) || process.env.CI === 'true') throw error;
    process.stderr.write(`\n!!! TESTS ON REDIS ARE LEFT OUT !!!\n${error.message}\n\n`);
    return null;
  }
}
