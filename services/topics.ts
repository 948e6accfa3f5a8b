import { brokerList } from '#lib/config/address-validators.ts';
import { readSettings } from '#lib/config/settings.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';

// `npm run topics`: creates missing topics of asyncapi.yaml on KAFKA_BROKERS and reports differences of
// existing ones. Idempotent; run it before the services of a new release start, because they create no
// topics.
try {
  const { KAFKA_BROKERS: brokers } = readSettings(process.env, { KAFKA_BROKERS: brokerList() });
  const wanted = readTopics(new URL('../asyncapi.yaml', import.meta.url));
  const { created, differences } = await createTopics({ brokers, wanted });
  for (const topic of created) process.stdout.write(`Created ${topic}.\n`);
  for (const difference of differences) process.stdout.write(`${difference}.\n`);
  process.stdout.write(`All ${wanted.length} topics of asyncapi.yaml exist.\n`);
} catch (error) {
  const unreachable = 'The topics could not be created: no broker of KAFKA_BROKERS responded correctly';
  const message =
    error instanceof StartupError ? error.message : `${unreachable} (${(error as Error).message}).`;
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}
