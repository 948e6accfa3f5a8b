import type { TestProject } from 'vitest/node';
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';
import { startLocalKafka } from '../../deploy/local/kafka.ts';
import { MissingInfrastructure } from '../../deploy/local/programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port`; null: it cannot be had here, which has been told, and tests that need it are left out. */
    kafkaBrokers: string | null;
  }
}

/** One Kafka for the tests that need it (`KAFKA_BROKERS`, else one of this run), with the topics of asyncapi.yaml. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.KAFKA_BROKERS;
  const server = given ? { address: given, stop: async () => {} } : await startOrTell();
  project.provide('kafkaBrokers', server?.address ?? null);
  if (!server) return async () => {};
  try {
    await createTopics({
      brokers: server.address.split(','),
      wanted: readTopics(asyncApiFile),
    });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return () => server.stop();
}

const asyncApiFile = new URL('../../asyncapi.yaml', import.meta.url);

/** On a person's machine the other tests still run; in CI what is missing is a failure. */
async function startOrTell() {
  try {
    return await startLocalKafka();
  } catch (error) {
    if (!(error instanceof MissingInfrastructure) || process.env.CI === 'true') throw error;
    process.stderr.write(`\n!!! TESTS ON KAFKA ARE LEFT OUT !!!\n${error.message}\n\n`);
    return undefined;
  }
}
