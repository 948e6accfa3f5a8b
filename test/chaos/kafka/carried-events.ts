import type { KafkaMessage } from 'kafkajs';
import type { CarriedEvent } from '../check/evidence.ts';

/** What messages in binary mode tell (CloudEvents Kafka binding, §3.2); whatever is no event of a transaction is left out. */
export function carriedEvents(messages: readonly KafkaMessage[]): CarriedEvent[] {
  return messages.flatMap(({ headers = {}, value }) => {
    const [id, type] = ['ce_id', 'ce_type'].map((name) => headers[name]?.toString());
    if (!id || !type?.startsWith('io.accord.consent.') || !type.endsWith('.v1')) return [];
    const data = parse(value);
    return data ? [{ id, type, ...data }] : [];
  });
}

function parse(value: Buffer | null): Pick<CarriedEvent, 'transaction' | 'version' | 'state'> | undefined {
  try {
    const { transaction, version, state } = JSON.parse(value?.toString() ?? '');
    return { transaction, version, state };
  } catch {
    return undefined; // Poison.
  }
}
