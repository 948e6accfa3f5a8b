import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { str } from 'envalid';
import { brokerList, databaseUrl } from '#lib/config/address-validators.ts';
import { checkKafkaSettings, kafkaSpecs, readKafkaSecurity } from '#lib/config/kafka-security.ts';
import { databaseLogin } from '#lib/config/secret-files.ts';
import { readSettings } from '#lib/config/settings.ts';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Topic } from '#lib/events/event-bus.ts';
import { createTopics, findMissingTopics, readTopics, type TopicsOnKafka } from '#lib/events/kafka/topics.ts';
import { refillOutbox } from '#lib/events/sent-events.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { definitions } from './definitions.ts';

// `npm run topics`: creates missing topics of asyncapi.yaml on KAFKA_BROKERS and reports differences of
// existing ones. Idempotent; run it before the services of a new release start, because they create no
// topics. With `-- --check`: creates nothing, and fails if topics are missing. With `-- --refill [<topic> …]`
// and the rights of the database's owner: publishes the events of the last day again (docs/operations.md, "A
// topic was lost").

/**
 * A consumer notices a recreated topic because its offset does not exist there. If the topic were full again
 * before the consumer polls, it would skip events; so this is longer than consumers pause.
 */
const noticeMs = 20_000;
/** The console publishes no events. */
const publishers = definitions.filter(({ tables }) => tables.includes('events'));

try {
  const wanted = readTopics(new URL('../asyncapi.yaml', import.meta.url));
  const { check, refill, topics } = readArguments(wanted.map(({ topic }) => topic));
  const owner = refill ? readOwnerSettings() : undefined;
  const kafka = await readKafka();
  await (check ? expectTopics : create)({ ...kafka, wanted });
  process.stdout.write(`All ${wanted.length} topics of asyncapi.yaml exist.\n`);
  if (owner) await publishAgain(owner, topics);
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** @param known topics of asyncapi.yaml: all of them are refilled unless some are named. */
function readArguments(known: readonly string[]): { check: boolean; refill: boolean; topics: Topic[] } {
  const option = { type: 'boolean', default: false } as const;
  const options = { check: option, refill: option };
  const usage = `Usage: npm run topics [-- --check | -- --refill [<topic> …]]. Topics: ${known.join(', ')}.`;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const isUsable = values.refill ? !values.check : positionals.length === 0;
    if (isUsable && positionals.every((topic) => known.includes(topic)))
      return { ...values, topics: (positionals.length > 0 ? positionals : [...known]) as Topic[] };
  } catch {
    // An unknown option.
  }
  throw new StartupError(usage);
}

function readOwnerSettings() {
  return readSettings(process.env, { DATABASE_URL: databaseUrl(), SECRETS_DIR: str({ default: undefined }) });
}

async function readKafka(): Promise<Omit<TopicsOnKafka, 'wanted'>> {
  const specs = { KAFKA_BROKERS: brokerList(), ...kafkaSpecs, SECRETS_DIR: str({ default: undefined }) };
  const settings = readSettings(process.env, specs, checkKafkaSettings);
  const security = await readKafkaSecurity(settings, settings.SECRETS_DIR);
  return { brokers: settings.KAFKA_BROKERS, security };
}

async function create(kafka: TopicsOnKafka): Promise<void> {
  const { created, differences } = await createTopics(kafka).catch((error: Error) => {
    throw noBroker('The topics could not be created', error);
  });
  for (const topic of created) process.stdout.write(`Created ${topic}.\n`);
  for (const difference of differences) process.stdout.write(`${difference}.\n`);
}

/** @throws StartupError that names the missing topics. */
async function expectTopics(kafka: TopicsOnKafka): Promise<void> {
  const missing = await findMissingTopics(kafka).catch((error: Error) => {
    throw noBroker('The topics could not be checked', error);
  });
  if (missing.length > 0)
    throw new StartupError(
      `Kafka has no ${missing.join(', ')}. Create the topics (npm run topics, or as resources of Kafka's operator) and try again.`,
    );
}

function noBroker(fault: string, { message }: Error): StartupError {
  return new StartupError(`${fault}: no broker of KAFKA_BROKERS responded correctly (${message}).`);
}

/** The relays of running services publish what is moved to the outbox tables. */
async function publishAgain(
  { DATABASE_URL, SECRETS_DIR: secretsDir }: ReturnType<typeof readOwnerSettings>,
  topics: readonly Topic[],
): Promise<void> {
  process.stdout.write('Waiting 20 seconds until consumers have noticed recreated topics.\n');
  await wait(noticeMs);
  const url = await databaseLogin(DATABASE_URL, { user: 'accord', name: 'owner', secretsDir });
  for (const { name: schema } of publishers) {
    const pool = createPool({ url, schema, log: createLogger(), max: 1 });
    const count = await refillOutbox(createDatabase({ pool }), topics).finally(() => pool.end());
    process.stdout.write(`${schema}: ${count} events are published again.\n`);
  }
}
