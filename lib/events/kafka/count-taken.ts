import type { Topic } from '#lib/events/event.ts';
import type { KafkaConnection } from '#lib/events/kafka/kafka-client.ts';

/** Longer than kafkajs takes at most for a broker that answers. */
const patienceMs = 15_000;

/**
 * How many events topics have taken since they were made, by the numbers that their partitions give out next: no retention makes them smaller.
 * A topic that is missing, or has nobody who leads it now, is left out. Ends the connection. @throws if no broker can be asked.
 */
export async function countTaken(
  { kafka, cut }: KafkaConnection,
  topics: readonly Topic[],
): Promise<Map<Topic, number>> {
  const taken = new Map<Topic, number>();
  const timer = setTimeout(cut, patienceMs);
  const admin = kafka.admin();
  try {
    await admin.connect();
    for (const topic of topics) {
      const partitions = await admin.fetchTopicOffsets(topic).catch(() => undefined);
      if (partitions)
        taken.set(
          topic,
          partitions.reduce((sum, { high }) => sum + Number(high), 0),
        );
    }
    return taken;
  } finally {
    clearTimeout(timer);
    cut();
  }
}
