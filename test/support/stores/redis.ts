import { Redis } from 'ioredis';
import type { LocalServer } from '../../infrastructure/local-server.ts';
import { MissingInfrastructure } from '../../infrastructure/programs.ts';
import { startLocalRedis } from '../../infrastructure/redis.ts';

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

/** All keys and values, as Redis dumps them. */
export async function readRedis(address: string): Promise<Buffer[]> {
  const redis = new Redis(address);
  const keys = await redis.keys('*');
  const values = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  redis.disconnect();
  return [...keys.map((key) => Buffer.from(key)), ...values.flatMap((value) => (value ? [value] : []))];
}
