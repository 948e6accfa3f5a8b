import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLocalRedis } from '../../deploy/local/redis.ts';
import { holds } from '../security/peers-canary/files-with.ts';
import {
  answerBoth,
  type Partner,
  readEverything,
  shareQuestion,
  startPartner,
} from '../security/peers-canary/partners.ts';
import { type DistributedInstance, startDistributedInstance } from '../support/distributed-instance.ts';
import { brokers, readAll } from '../support/kafka.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ours = 'canary-of-the-leader-c41e07';
const theirs = 'canary-of-the-owner-95b8d2';

describe.runIf(brokers)('answers to a partner’s question, at a leader of separate services', () => {
  let redis: Awaited<ReturnType<typeof startLocalRedis>>;
  let leader: DistributedInstance;
  let owner: Partner;
  beforeAll(async () => {
    redis = await startLocalRedis();
    leader = await startDistributedInstance({
      replicas: 1,
      kafkaBrokers: brokers as string,
      redisUrl: redis.address,
      environment: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8,::1/128' },
    });
  }, 120_000);
  afterAll(async () => {
    await leader?.stop();
    await owner?.stop();
    await redis?.stop();
  });

  it('are in no table, topic, cache, log or answer', async () => {
    owner = await startPartner(await temporaryFolder());
    const shown = await shareQuestion(leader, owner);
    const made = await answerBoth(leader, shown, { own: ours, theirs });
    // At once: what is cached lives for seconds.
    const cache = await readCache(redis.address);
    const places: Record<string, Buffer[]> = {
      cache,
      told: [Buffer.from(await readEverything(leader, shown.admin, made))],
      tables: await readTables(leader.databaseUrl),
      topics: await readAll(),
      log: [Buffer.from(leader.logs())],
    };
    const placesOf = (text: string) =>
      Object.keys(places).filter((place) => places[place]?.some((bytes) => holds(bytes, text)));
    expect(placesOf(theirs)).toEqual([]);
    // The same search finds what is there.
    expect(placesOf(ours)).toEqual(['told', 'tables']);
    expect(placesOf(made.id)).toEqual(expect.arrayContaining(['told', 'tables', 'topics']));
    expect(cache.length).toBeGreaterThan(0);
  }, 120_000);
});

/** Every row of every table, as text; the files below them are searched in test/security/peers-canary.test.ts. */
async function readTables(connectionString: string): Promise<Buffer[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname !~ '^(pg_|information_schema)'`,
  );
  const contents: Buffer[] = [];
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: string }>(`SELECT t::text AS row FROM ${name} AS t`);
    contents.push(...rows.map(({ row }) => Buffer.from(row)));
  }
  await client.end();
  return contents;
}

async function readCache(address: string): Promise<Buffer[]> {
  const redis = new Redis(address);
  const keys = await redis.keys('*');
  const values = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  redis.disconnect();
  return [...keys.map((key) => Buffer.from(key)), ...values.flatMap((value) => (value ? [value] : []))];
}
