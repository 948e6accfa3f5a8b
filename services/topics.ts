import { brokerList } from '#lib/config/network-validators.ts';
import { readSettings } from '#lib/config/read-settings.ts';
import { StartupError } from '#lib/errors/startup-error.ts';
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';

// `npm run topics`: creates the topics of asyncapi.yaml that are missing on KAFKA_BROKERS, and tells where others differ from it. It may run
// at any time and as often as one likes; before the services of a new release it must have run, because they create none.
try {
  const { KAFKA_BROKERS: brokers } = readSettings(process.env, { KAFKA_BROKERS: brokerList() });
  const wanted = readTopics(new URL('../asyncapi.yaml', import.meta.url));
  const { created, differences } = await createTopics({ brokers, wanted });
  for (const topic of created) process.stdout.write(`${topic} was created.\n`);
  for (const difference of differences) process.stdout.write(`${difference}.\n`);
  process.stdout.write(`Every topic of asyncapi.yaml is there (${wanted.length}).\n`);
} catch (error) {
  const unreachable = 'The topics could not be created: no broker of KAFKA_BROKERS answers as it should';
  const told =
    error instanceof StartupError ? error.message : `${unreachable} (${(error as Error).message}).`;
  process.stderr.write(`${told}\n`);
  process.exitCode = 1;
}
