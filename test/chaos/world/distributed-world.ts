import { rm } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { startLocalKafka } from '../../infrastructure/kafka.ts';
import { startLocalRedis } from '../../infrastructure/redis.ts';
import { contractFetch } from '../../support/contract/contract.ts';
import { createKey } from '../../support/instances/callers.ts';
import { routesTo, startPrefixRouter } from '../../support/network/prefix-router.ts';
import { findDeadLetters, keepEvents } from '../check/stored.ts';
import {
  eventFaults,
  redisFaults,
  serverFaults,
  type TopicDeeds,
  webhookFaults,
} from '../faults/infrastructure-faults.ts';
import { postgresFaults } from '../faults/postgres-faults.ts';
import { processFaults } from '../faults/process-faults.ts';
import { createTopicLog } from '../kafka/topic-log.ts';
import { waitUntil } from '../wait-until.ts';
import { type Database, startDatabase } from './database.ts';
import { findLeaks, gatherEvents, gatherStored } from './gather.ts';
import { startMailbox } from './mailbox.ts';
import { createReplicas, createServiceProcess } from './service-process.ts';
import { startWebhookReceiver } from './webhook-receiver.ts';
import { openFolder, runTool, type World, type WorldOptions } from './world.ts';

/** Two of everything that subjects and callers use. */
const counts = { auth: 2, forms: 2, transactions: 2, webhooks: 2 };
const consents = 'accord.consents';

/** Separate services on PostgreSQL, Kafka and Redis, two replicas of each, behind a router. */
export async function startDistributedWorld(options: WorldOptions): Promise<World> {
  const parts: { stop(): Promise<unknown> }[] = [];
  const keep = <T extends { stop(): Promise<unknown> }>(part: T): T => {
    parts.push(part);
    return part;
  };
  const stop = async () => {
    for (const part of parts.reverse()) await part.stop();
  };
  try {
    return { ...(await buildWorld(options, keep)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Keep = <T extends { stop(): Promise<unknown> }>(part: T) => T;

async function buildWorld(
  { bug, random, patienceMs, logFolder }: WorldOptions,
  keep: Keep,
): Promise<Omit<World, 'stop'>> {
  const folder = await openFolder();
  keep({ stop: () => rm(folder, { recursive: true, force: true }) });
  const [database, kafka, redis] = await Promise.all([
    startDatabase(random),
    startLocalKafka(),
    startLocalRedis(),
  ]);
  for (const part of [database, kafka, redis]) keep(part);
  const router = keep(await startPrefixRouter());
  const baseUrl = router.url;
  const mailbox = keep(await startMailbox());
  const environment = {
    BASE_URL: baseUrl,
    DATABASE_URL: database.url.replace('accord@', ''),
    KAFKA_BROKERS: kafka.address,
    REDIS_URL: redis.address,
    SECRETS_DIR: path.join(folder, 'secrets'),
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    // How busy the machine is decides nothing: while a replica restarts, the other one has all of the load.
    RATE_LIMITS: 'off',
    MAX_EVENT_LOOP_DELAY: '0',
    MAX_IN_FLIGHT: '0',
    STOP_DELAY: '1',
    ...mailbox.settings,
  };
  const headers = await prepare({ bug, database, environment, folder });
  const replicas = await createReplicas({ bug, environment, counts, logFolder });
  keep({ stop: () => Promise.all(replicas.map(({ process }) => process.kill())) });
  await Promise.all(replicas.map(({ process }) => process.start()));
  router.serve(routesTo((service) => replicas.filter(({ process }) => process.service === service)));
  await waitUntil('the router finds replicas', async () => (await fetch(`${baseUrl}/system/config`)).ok);
  await keepEvents(database.directUrl);
  const receiver = keep(await startWebhookReceiver(random));
  receiver.expect(await subscribe(baseUrl, headers, receiver.url));
  const deeds: TopicDeeds = { poison: [] };
  const log = createTopicLog({ brokers: kafka.address, topic: consents });
  const refill = () => runTool(['services/topics.ts', '--refill', consents], environment, bug);
  const services = replicas.map(({ process }) => process);
  return {
    baseUrl,
    headers,
    mailbox,
    lostReplies: database.proxy.lost,
    faults: [
      ...processFaults(services),
      ...postgresFaults(database),
      ...serverFaults('Kafka', kafka),
      ...redisFaults(redis),
      ...webhookFaults(receiver),
      ...mailbox.faults,
      ...eventFaults({ log, refill, deeds, random }),
    ],
    async gather() {
      const { directUrl } = database;
      const stored = await gatherStored(directUrl, patienceMs);
      const events = await gatherEvents({ stored, deeds, log, receiver, directUrl, patienceMs });
      const misconduct = [
        ...services.flatMap((service) => service.misconduct()),
        ...receiver.forged().map((id) => `the call for event ${id} was signed wrongly`),
      ];
      return {
        ...events,
        stored: { ...stored, deadLetters: await findDeadLetters(directUrl) },
        misconduct: [...misconduct, ...(await findLeaks(database.directUrl, services))],
      };
    },
  };
}

/**
 * What an operator does before the first start; and the demonstration's models and a key, made by a single
 * process.
 */
async function prepare({
  bug,
  database,
  environment,
  folder,
}: {
  bug: string | undefined;
  database: Database;
  environment: Record<string, string> & { SECRETS_DIR: string; BASE_URL: string };
  folder: string;
}): Promise<Record<string, string>> {
  await runTool(['services/secrets.ts', environment.SECRETS_DIR], {}, bug);
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const single = createServiceProcess({
    name: 'the first process',
    service: 'accord',
    bug,
    program: 'services/standalone.ts',
    environment: {
      PORT: String(port),
      DATABASE_URL: database.url,
      DATA_DIR: folder,
      SECRETS_DIR: environment.SECRETS_DIR,
      RATE_LIMITS: 'off',
      MAX_EVENT_LOOP_DELAY: '0',
    },
    isReady: async () => (await fetch(`${url}/readyz`)).status === 200,
  });
  await single.start();
  try {
    const { headers } = await createKey({ url, fetch: contractFetch(url) });
    return headers;
  } finally {
    await single.stop();
    await runTool(['services/migrate.ts'], environment, bug);
    await runTool(['services/topics.ts'], environment, bug);
  }
}

/** Makes a webhook for everything that happens to transactions. @returns its secret. */
async function subscribe(
  baseUrl: string,
  headers: Record<string, string>,
  targetUrl: string,
): Promise<string> {
  const subscribedActions = [
    'created',
    'submitted',
    'committed',
    'cancelled',
    'timedout',
    'rolledback',
    'withdrawn',
  ].map((name) => `consent.${name}`);
  const response = await fetch(`${baseUrl}/webhooks`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'chaos', targetUrl, subscribedActions }),
  });
  if (response.status !== 201) throw new Error(`POST /webhooks: ${response.status} ${await response.text()}`);
  return ((await response.json()) as { secret: string }).secret;
}
