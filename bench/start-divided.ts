import { randomBytes } from 'node:crypto';
import { createTopics, type readTopics } from '#lib/events/kafka/topics.ts';
import { imageOptions } from '../test/infrastructure/image-options.ts';
import { startLocalKafka } from '../test/infrastructure/kafka.ts';
import { type ServerProcess, startServer } from './start-server.ts';

/** The bare server, divided into two processes as Accord's services are. */
export interface DividedServer {
  port: number;
  pids: readonly number[];
  stop(): Promise<void>;
}

/** It has a Kafka of its own: Accord's services must not read what it sends. */
export async function startDivided({
  databaseUrl,
  samples,
  wanted,
}: {
  databaseUrl: string;
  /** File with pages of the sample transaction. */
  samples: string;
  wanted: ReturnType<typeof readTopics>;
}): Promise<DividedServer> {
  const kafka = await startLocalKafka();
  const servers: ServerProcess[] = [];
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await kafka.stop();
  };
  try {
    await createTopics({ brokers: [kafka.address], wanted });
    const environment = {
      DATABASE_URL: databaseUrl,
      SAMPLES: samples,
      KAFKA_BROKERS: kafka.address,
      CALLER_SECRET: randomBytes(32).toString('hex'),
    };
    const forms = await startServer('bench/baseline-forms-server.ts', environment, imageOptions);
    servers.push(forms);
    const front = await startServer(
      'bench/baseline-server.ts',
      { ...environment, FORMS_URL: `http://127.0.0.1:${forms.port}` },
      imageOptions,
    );
    servers.push(front);
    return { port: front.port, pids: servers.map(({ pid }) => pid), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
