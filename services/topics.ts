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
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';
import { refillOutbox } from '#lib/events/sent-events.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { schemas } from './definitions.ts';

// `npm run topics`: creates missing topics of asyncapi.yaml on KAFKA_BROKERS and reports differences of
// existing ones. Idempotent; run it before the services of a new release start, because they create no
// topics. With `-- --refill [<topic> …]`, as the owner of the database: publishes the events of the last day
// again (docs/operations.md, "A topic was lost").

/**
 * A consumer notices a recreated topic because its offset does not exist there. If the topic were full again
 * before the consumer polls, it would skip events; so this is longer than consumers pause.
 */
const noticeMs = 20_000;
/** Webhooks and console publish no events. */
const publishers = schemas.filter(({ schema }) => !['webhooks', 'console'].includes(schema));

try {
  const wanted = readTopics(new URL('../asyncapi.yaml', import.meta.url));
  const { refill, topics } = readArguments(wanted.map(({ topic }) => topic));
  const settings = refill ? readOwnerSettings() : undefined;
  await create(wanted);
  if (settings) await publishAgain(settings, topics);
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** @param known topics of asyncapi.yaml: all of them are refilled unless some are named. */
function readArguments(known: readonly string[]): { refill: boolean; topics: Topic[] } {
  const options = { refill: { type: 'boolean', default: false } } as const;
  const usage = `Usage: npm run topics [-- --refill [<topic> …]]. Topics: ${known.join(', ')}.`;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (positionals.every((topic) => known.includes(topic)) && (values.refill || positionals.length === 0))
      return { ...values, topics: (positionals.length > 0 ? positionals : [...known]) as Topic[] };
  } catch {
    // An unknown option.
  }
  throw new StartupError(usage);
}

function readOwnerSettings() {
  return readSettings(process.env, { DATABASE_URL: databaseUrl(), SECRETS_DIR: str({ default: undefined }) });
}

async function create(wanted: ReturnType<typeof readTopics>): Promise<void> {
  const specs = { KAFKA_BROKERS: brokerList(), ...kafkaSpecs, SECRETS_DIR: str({ default: undefined }) };
  const settings = readSettings(process.env, specs, checkKafkaSettings);
  const { KAFKA_BROKERS: brokers, SECRETS_DIR } = settings;
  const security = await readKafkaSecurity(settings, SECRETS_DIR);
  const { created, differences } = await createTopics({ brokers, security, wanted }).catch(
    (error: unknown) => {
      const reason = (error as Error).message;
      throw new StartupError(
        `The topics could not be created: no broker of KAFKA_BROKERS responded correctly (${reason}).`,
      );
    },
  );
  for (const topic of created) process.stdout.write(`Created ${topic}.\n`);
  for (const difference of differences) process.stdout.write(`${difference}.\n`);
  process.stdout.write(`All ${wanted.length} topics of asyncapi.yaml exist.\n`);
}

/** The relays of running services publish what is moved to the outbox tables. */
async function publishAgain(
  { DATABASE_URL, SECRETS_DIR: secretsDir }: ReturnType<typeof readOwnerSettings>,
  topics: readonly Topic[],
): Promise<void> {
  process.stdout.write('Waiting 20 seconds until consumers have noticed recreated topics.\n');
  await wait(noticeMs);
  const url = await databaseLogin(DATABASE_URL, { user: 'accord', name: 'owner', secretsDir });
  for (const { schema } of publishers) {
    const pool = createPool({ url, schema, log: createLogger(), max: 1 });
    const count = await refillOutbox(createDatabase({ pool }), topics).finally(() => pool.end());
    process.stdout.write(`${schema}: ${count} events are published again.\n`);
  }
}
