import pg from 'pg';
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';
import { startLocalKafka } from './kafka.ts';
import { startTestPostgres } from './postgres.ts';
import { MissingInfrastructure } from './programs.ts';
import { startLocalRedis } from './redis.ts';

// `npm run infra`: PostgreSQL, Apache Kafka with its topics, and Redis on free ports of this machine, empty,
// for as long as it runs.
const started: { stop(): Promise<void> }[] = [];
const keep = <T extends { stop(): Promise<void> }>(server: T): T => {
  started.push(server);
  return server;
};
const stopAll = () => Promise.all(started.map((server) => server.stop()));
try {
  const [postgres, kafka, redis] = await Promise.all([
    startTestPostgres().then(keep).then(createOwner),
    startLocalKafka().then(keep),
    startLocalRedis().then(keep),
  ]);
  const wanted = readTopics(new URL('../../asyncapi.yaml', import.meta.url));
  await createTopics({ brokers: [kafka.address], wanted });
  process.stdout.write(
    `export DATABASE_URL=${postgres}\nexport KAFKA_BROKERS=${kafka.address}\nexport REDIS_URL=${redis.address}\n`,
  );
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stopAll().then(() => process.exit(0)));
} catch (error) {
  const told = error instanceof MissingInfrastructure ? error.message : (error as Error).stack;
  process.stderr.write(`${told}\n`);
  await stopAll();
  process.exit(1);
}

/** The role that owns every schema, and its database, as in production; it is no superuser. */
async function createOwner({ url }: { url: string }): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE ROLE accord LOGIN CREATEROLE');
  await client.query('CREATE DATABASE accord OWNER accord');
  await client.end();
  const owner = new URL(url);
  owner.username = 'accord';
  owner.pathname = '/accord';
  return owner.href;
}
