import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LocalServer } from '../infrastructure/local-server.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import {
  type DistributedInstance,
  startDistributedInstance,
} from '../support/instances/distributed-instance.ts';
import { startTestRedis } from '../support/stores/redis.ts';

const maxAgeMs = 5_000;

describe('two replicas of every service while Kafka is down', () => {
  let instance: DistributedInstance;
  let redis: LocalServer | null;
  beforeAll(async () => {
    redis = await startTestRedis();
    const redisUrl = redis?.address ?? 'redis://127.0.0.1:1';
    instance = await startDistributedInstance({ kafkaBrokers: '127.0.0.1:1', redisUrl });
  }, 120_000);
  afterAll(async () => {
    await instance?.stop();
    await redis?.stop();
  });

  it('refuse a revoked key within 5 seconds, each of them, however they pass their knowledge on through Redis', async () => {
    const [admin, key] = [await signIn(instance, 'admin'), await createKey(instance)];
    const paths: Record<string, string> = {
      transactions: '/transactions',
      forms: '/models',
      peers: '/peers',
    };
    const asked = instance.replicas.filter(({ service }) => service in paths);
    const stillGood = async () => {
      const statuses = await Promise.all(
        asked.map(({ url, service }) =>
          fetch(`${url}${paths[service]}`, { headers: key.headers }).then(({ status }) => status),
        ),
      );
      return statuses.filter((status) => status !== 401).length;
    };
    expect(await stillGood()).toBe(asked.length);
    expect((await admin.send('DELETE', `/keys/${key.id}`)).status).toBe(204);
    const revoked = performance.now();
    await expect.poll(stillGood, { timeout: 2 * maxAgeMs, interval: 50 }).toBe(0);
    expect(performance.now() - revoked).toBeLessThan(maxAgeMs + 500);
  });
});
