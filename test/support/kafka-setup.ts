import type { TestProject } from 'vitest/node';
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';
import { startLocalKafka } from '../../deploy/local/kafka.ts';
import { MissingInfrastructure } from '../../deploy/local/programs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** `host:port` by worker; null: it cannot be had here, which has been told, and tests that need it are left out. */
    kafkaBrokers: string[] | null;
  }
}

/**
 * A Kafka for each worker (`KAFKA_BROKERS` for one, else brokers of this run), with the topics of asyncapi.yaml: instances that run at the same time
 * on one Kafka would share each other's events, because topics and consumer groups have the names of the product.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.KAFKA_BROKERS;
  const servers = given ? [{ address: given, stop: async () => {} }] : await startOrTell(workersOf(project));
  const stop = async () => void (await Promise.all(servers.map((server) => server.stop())));
  project.provide('kafkaBrokers', servers.length > 0 ? servers.map(({ address }) => address) : null);
  try {
    const wanted = readTopics(asyncApiFile);
    for (const { address } of servers) await createTopics({ brokers: address.split(','), wanted });
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
}

const asyncApiFile = new URL('../../asyncapi.yaml', import.meta.url);

function workersOf(project: TestProject): number {
  return project.vitest.config.maxWorkers;
}

/** On a person's machine the other tests still run; in CI what is missing is a failure. */
async function startOrTell(count: number) {
  const servers: Awaited<ReturnType<typeof startLocalKafka>>[] = [];
  try {
    // One after the other: the first may have to fetch the program.
    while (servers.length < count) servers.push(await startLocalKafka());
    return servers;
  } catch (error) {
    await Promise.all(servers.map((server) => server.stop()));
    if (!(error instanceof MissingInfrastructure) || process.env.CI === 'true') throw error;
    process.stderr.write(`\n!!! TESTS ON KAFKA ARE LEFT OUT !!!\n${error.message}\n\n`);
    return [];
  }
}
