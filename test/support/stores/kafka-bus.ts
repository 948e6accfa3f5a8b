import { createKafkaBus } from '#lib/events/kafka/kafka-bus.ts';
import { createLogger, type Logger } from '#lib/observability/logger.ts';
import { eventContract } from './event-bus.ts';

/** Where its Kafka is, and who hears what it says. */
export interface TestKafkaBus {
  address: string;
  log?: Logger;
}

/** A bus on Kafka, with the product's own topics. */
export function createTestKafkaBus({ address, log = createLogger({ level: 'silent' }) }: TestKafkaBus) {
  return createKafkaBus({ brokers: address.split(','), clientId: 'test', contract: eventContract, log });
}
