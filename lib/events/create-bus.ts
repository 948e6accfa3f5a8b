import type { EventBus } from '#lib/events/event-bus.ts';
import { readEventContract } from '#lib/events/event-contract.ts';
import { createInProcessBus } from '#lib/events/in-process-bus.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

interface Options {
  /** KAFKA_BROKERS; undefined: events stay within this process, which must be the only one. */
  brokers: readonly string[] | undefined;
  clientId: string;
  log: Logger;
  metrics: EventMetrics;
}

/** The bus that the settings ask for. What speaks to Kafka is loaded only where there is one. */
export async function createBus({ brokers, clientId, log, metrics }: Options): Promise<EventBus> {
  const contract = readEventContract(new URL('../../asyncapi.yaml', import.meta.url));
  if (!brokers) return createInProcessBus({ contract, log, metrics });
  const { createKafkaBus } = await import('#lib/events/kafka/kafka-bus.ts');
  return createKafkaBus({ brokers, clientId, contract, log, metrics });
}
