import { type DeadLetter, poisonReason } from '#lib/events/dead-letters.ts';
import type { AccordEvent, Topic } from '#lib/events/event.ts';
import type { EventHandler } from '#lib/events/event-bus.ts';
import type { EventContract } from '#lib/events/event-contract.ts';
import type { Reader } from '#lib/events/reader.ts';
import { runAsRequestOf } from '#lib/events/request-extension.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

/** A handler and what it is registered for. */
export interface Subscription {
  topic: Topic;
  reader: Reader;
  handler: EventHandler;
}

/** Something that came. */
export interface Arrival {
  /** @throws PoisonError if it cannot be read. */
  read(): AccordEvent;
  /** See {@link DeadLetter}. */
  place: string;
  /** What is known of it before it is read. */
  eventId?: string | undefined;
  /** See {@link EventHandler}. */
  arrivedAt: number;
}

/** What both adapters do with what has come, so that a handler cannot tell which one runs. */
export interface EventApplier {
  /** Resolves with whether it is done with, applied or put aside; else it must come again. Never rejects. */
  apply(subscription: Subscription, arrival: Arrival): Promise<boolean>;
}

export function createEventApplier({
  contract,
  log,
  metrics,
}: {
  contract: EventContract;
  log: Logger;
  metrics?: EventMetrics | undefined;
}): EventApplier {
  async function park({ topic, reader }: Subscription, arrival: Arrival, reason: string): Promise<void> {
    const { place } = arrival;
    const ids = idsOf(arrival);
    await reader.park({ consumer: reader.name, topic, place, reason, ...ids });
    log.error('an event was put aside', { topic, eventId: ids.eventId, id: place });
    metrics?.deadLettered({ consumer: reader.name, topic });
  }

  async function applyOrPark(subscription: Subscription, arrival: Arrival): Promise<void> {
    const { topic, reader, handler } = subscription;
    try {
      const event = arrival.read();
      contract.check(topic, event);
      await runAsRequestOf(event, () => handler(event, arrival.arrivedAt));
      metrics?.applied({ consumer: reader.name, topic, time: event.time });
    } catch (error) {
      const reason = poisonReason(error);
      if (reason === undefined) throw error;
      await park(subscription, arrival, reason);
    }
  }

  return {
    async apply(subscription, arrival) {
      try {
        await applyOrPark(subscription, arrival);
        return true;
      } catch (error) {
        const { topic } = subscription;
        log.warn('an event could not be applied; it comes again', {
          topic,
          eventId: arrival.eventId,
          id: arrival.place,
          error,
        });
        return false;
      }
    },
  };
}

/** What may be written down of an event that breaks the contract: anything may stand where its ids should. */
const wellFormed = {
  eventId: /^[0-9A-Za-z-]{1,64}$/,
  type: /^io\.accord\.[a-z.]{1,64}v\d{1,4}$/,
  subject: /^[0-9A-Za-z-]{1,64}$/,
};

function idsOf(arrival: Arrival): Pick<DeadLetter, 'eventId' | 'type' | 'subject'> {
  const event = readOrNothing(arrival);
  const ids = { eventId: event?.id ?? arrival.eventId, type: event?.type, subject: event?.subject };
  const fine = Object.entries(wellFormed).filter(([name, pattern]) =>
    pattern.test(ids[name as keyof typeof ids] ?? ''),
  );
  return Object.fromEntries(fine.map(([name]) => [name, ids[name as keyof typeof ids]]));
}

function readOrNothing(arrival: Arrival): AccordEvent | undefined {
  try {
    return arrival.read();
  } catch {
    return undefined;
  }
}
