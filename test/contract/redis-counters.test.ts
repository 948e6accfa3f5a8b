import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, describe, expect, test } from 'vitest';
import { createRedisCounters } from '#lib/cache/counters.ts';
import { createRedisLink } from '#lib/cache/redis-link.ts';
import { createLogger } from '#lib/observability/logger.ts';
import type { LocalServer } from '../infrastructure/local-server.ts';
import { describeCounters } from '../support/stores/counters-suite.ts';
import { startTestRedis } from '../support/stores/redis.ts';

const log = createLogger({ level: 'silent' });
// Started before the tests are collected, which are skipped without a Redis.
const server = await startTestRedis();

describe.skipIf(!server)('on Redis', async () => {
  const redis = server as LocalServer;
  const link = createRedisLink({ url: redis?.address ?? 'redis://127.0.0.1:1', log });
  if (redis) await once(link.client, 'ready');
  afterAll(async () => {
    link.stop();
    await redis.stop();
  });
  const counters = createRedisCounters({ link, replicas: 2 });

  describeCounters('in Redis', () => counters);

  test('are shared by replicas', async () => {
    const other = createRedisLink({ url: redis.address, log });
    await once(other.client, 'ready');
    const limit = { name: randomUUID(), points: 4, seconds: 60 };
    const replicas = [link, other].map((each) => createRedisCounters({ link: each, replicas: 2 })(limit));
    const waits = await Promise.all(
      Array.from({ length: 10 }, (_, index) => replicas[index % 2]?.count('ann')),
    );
    expect(waits.filter((wait) => wait === undefined).length).toBe(4);
    other.stop();
  });

  /** The longest of several counts, in ms. */
  async function slowest(times: number): Promise<number> {
    const counter = counters({ name: randomUUID(), points: 1_000, seconds: 60 });
    let worst = 0;
    for (let time = 0; time < times; time += 1) {
      const began = performance.now();
      expect(await counter.count('ann')).toBeUndefined();
      worst = Math.max(worst, performance.now() - began);
    }
    return worst;
  }
  const works = () => link.run((client) => client.set('works', 'again', 'PX', 1_000)).catch(() => undefined);

  test('a Redis that hangs is waited for once, by 200 ms, and fails no request', async () => {
    redis.pause();
    const first = await slowest(1);
    expect(first).toBeGreaterThan(150);
    expect(await slowest(100)).toBeLessThan(first);
    redis.resume();
    await expect.poll(works).toBe('OK');
  });

  test('a Redis that was demoted to a replica is connected to again, because its name may lead to the new primary', async () => {
    const connection = () => link.client.client('ID').catch(() => undefined);
    const before = await connection();
    await link.client.replicaof('127.0.0.1', 1);
    expect(await works()).toBeUndefined();
    await expect.poll(async () => (await connection()) ?? before).not.toBe(before);
    const release = () => link.client.replicaof('NO', 'ONE').catch(() => undefined);
    await expect.poll(release).toBe('OK');
    await expect.poll(works).toBe('OK');
  });

  test('while Redis is down each replica counts up to its share, and Redis is used again when it is back', async () => {
    await redis.kill();
    await slowest(1);
    const counter = counters({ name: randomUUID(), points: 6, seconds: 60 });
    const waits = await Promise.all(Array.from({ length: 10 }, () => counter.count('ann')));
    expect(waits.filter((wait) => wait === undefined).length).toBe(3);
    await redis.launch();
    await expect.poll(works).toBe('OK');
  });
});
