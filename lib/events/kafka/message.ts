import type { IHeaders, KafkaMessage, Message } from 'kafkajs';
import { PoisonError } from '#lib/events/dead-letters.ts';
import type { AccordEvent, OutboundEvent } from '#lib/events/event-bus.ts';

const contentType = 'application/json';

/** Writes an event as a Kafka message: CloudEvents Kafka binding 1.0.2 §3.2, binary content mode. */
export function writeMessage({ key, event }: OutboundEvent): Message {
  const { data, ...attributes } = event;
  const headers: Record<string, string> = { ce_specversion: '1.0', 'content-type': contentType };
  for (const [name, value] of Object.entries(attributes)) headers[`ce_${name}`] = value;
  return { key, headers, value: JSON.stringify(data) };
}

/**
 * Parses a Kafka message without validating it against the contract. @throws PoisonError if it is not an
 * event.
 */
export function readMessage({ headers = {}, value }: Pick<KafkaMessage, 'headers' | 'value'>): AccordEvent {
  if (headerOf(headers, 'ce_specversion') !== '1.0') throw new PoisonError('It is not a CloudEvent 1.0.');
  const attributes: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const text = headerOf(headers, name);
    if (name.startsWith('ce_') && name !== 'ce_specversion' && text !== undefined)
      attributes[name.slice('ce_'.length)] = text;
  }
  // biome-ignore lint/plugin: the contract is checked where the event is applied.
  return { ...attributes, data: parse(value) } as unknown as AccordEvent;
}

/** Reads the id of a message that may otherwise be invalid. */
export function readEventId({ headers = {} }: Pick<KafkaMessage, 'headers'>): string | undefined {
  const id = headerOf(headers, 'ce_id');
  return id !== undefined && /^[0-9A-Za-z-]{1,64}$/.test(id) ? id : undefined;
}

function headerOf(headers: IHeaders, name: string): string | undefined {
  const value = Object.hasOwn(headers, name) ? [headers[name]].flat()[0] : undefined;
  return value?.toString();
}

function parse(value: Buffer | null): Record<string, unknown> {
  try {
    return JSON.parse(value?.toString('utf8') ?? '');
  } catch {
    // A SyntaxError would end the consumer silently.
    throw new PoisonError('Its value is not JSON.');
  }
}
