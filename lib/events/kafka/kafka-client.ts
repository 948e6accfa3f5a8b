import { Kafka, logLevel } from 'kafkajs';

/** Three attempts, then whoever asked decides: the relay sends again, a consumer begins again. */
export const retry = { initialRetryTime: 200, maxRetryTime: 2000, retries: 2 } as const;

/**
 * A client with bounds on everything (reliability.md, "kafkajs"). It logs nothing by itself: its messages may quote what came, and what
 * matters is told by those who use it.
 */
export function createKafkaClient({
  brokers,
  clientId,
}: {
  brokers: readonly string[];
  clientId: string;
}): Kafka {
  return new Kafka({
    brokers: [...brokers],
    clientId,
    connectionTimeout: 3_000,
    requestTimeout: 5_000,
    enforceRequestTimeout: true,
    retry,
    logLevel: logLevel.NOTHING,
  });
}
