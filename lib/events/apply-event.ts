import { type DeadLetter, poisonReason } from '#lib/events/dead-letters.ts';
import type { AccordEvent, EventHandler, Reader, Topic } from '#lib/events/event-bus.ts';
import type { EventContract } from '#lib/events/event-contract.ts';
import { acceptRequestId, type Logger, runWithRequestId } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { runInSpan, type Tracing } from '#lib/observability/tracing.ts';

/** A handler with its topic and reader. */
export interface Subscription {
  topic: Topic;
  reader: Reader;
  handler: EventHandler;
}

/** A received event. */
export interface Arrival {
  /** @throws PoisonError if it cannot be read. */
  read(): AccordEvent;
  /** See {@link DeadLetter}. */
  place: string;
  /** The id in the message's headers, known before it is parsed. */
  eventId?: string | undefined;
  /** See {@link EventHandler}. */
  arrivedAt: number;
}

/** Applies received events in the same way for both buses. */
export interface EventApplier {
  /**
   * Resolves with true if the event was applied or stored as a dead letter, false if it must be retried.
   * Never rejects.
   */
  apply(subscription: Subscription, arrival: Arrival): Promise<boolean>;
}

export function createEventApplier({
  contract,
  log,
  metrics,
  tracing,
}: {
  contract: EventContract;
  log: Logger;
  metrics?: EventMetrics | undefined;
  tracing?: Tracing | undefined;
}): EventApplier {
  async function park({ topic, reader }: Subscription, arrival: Arrival, reason: string): Promise<void> {
    const { place } = arrival;
    const ids = idsOf(arrival);
    await reader.park({ consumer: reader.name, topic, place, reason, ...ids });
    log.error(reader.shared ? 'skipped an event; stored it as a dead letter' : 'skipped an event', {
      topic,
      eventId: ids.eventId,
      id: place,
    });
    metrics?.deadLettered({ consumer: reader.name, topic });
  }

  function handle({ topic, reader, handler }: Subscription, event: AccordEvent, { arrivedAt }: Arrival) {
    const work = () => handler(event, arrivedAt);
    if (!tracing) return work();
    const fields = { service: reader.name, topic, event: event.type };
    const parent = event.traceparent;
    return runInSpan(tracing, { name: `process ${topic}`, kind: 'consumer', parent, fields }, work);
  }

  async function applyOrPark(subscription: Subscription, arrival: Arrival): Promise<void> {
    const { topic, reader } = subscription;
    try {
      const event = arrival.read();
      contract.check(topic, event);
      await runWithRequestId(acceptRequestId(event.requestid), () => handle(subscription, event, arrival));
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
        log.warn('failed to apply an event; it is retried', {
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

/**
 * Ids of an invalid event are stored and logged only if they are well-formed, because they may contain
 * anything.
 */
const wellFormed = {
  eventId: /^[0-9A-Za-z-]{1,64}$/,
  type: /^io\.accord\.[a-z.]{1,64}v\d{1,4}$/,
  subject: /^[0-9A-Za-z-]{1,64}$/,
};

function idsOf(arrival: Arrival): Pick<DeadLetter, 'eventId' | 'type' | 'subject'> {
  const event = readOrNothing(arrival);
  const ids = { eventId: event?.id ?? arrival.eventId, type: event?.type, subject: event?.subject };
  const valid = Object.entries(wellFormed).filter(([name, pattern]) =>
    pattern.test(ids[name as keyof typeof ids] ?? ''),
  );
  return Object.fromEntries(valid.map(([name]) => [name, ids[name as keyof typeof ids]]));
}

function readOrNothing(arrival: Arrival): AccordEvent | undefined {
  try {
    return arrival.read();
  } catch {
    return undefined;
  }
}
