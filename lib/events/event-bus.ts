import type { AccordEvent, OutboundEvent, Topic } from '#lib/events/event.ts';
import { runAsRequestOf } from '#lib/events/request-extension.ts';

/** Reacts to one event; has done so for good when it returns. Must be idempotent: events may come twice and in any order. */
export type EventHandler = (event: AccordEvent) => Promise<void>;

/** Carries events between services, at least once (reliability.md). */
export interface EventBus {
  /** Resolves when every event is acknowledged. Rejects when the outcome of any is unknown: then all are sent again. */
  publish(events: readonly OutboundEvent[]): Promise<void>;
  subscribe(topic: Topic, group: string, handler: EventHandler): void;
}

/** The bus of one process: an event is acknowledged when every handler has returned. */
export function createInProcessBus(): EventBus {
  const handlers = new Map<Topic, EventHandler[]>();
  return {
    subscribe(topic, _group, handler) {
      handlers.set(topic, [...(handlers.get(topic) ?? []), handler]);
    },
    async publish(events) {
      for (const { topic, event } of events)
        await Promise.all(
          (handlers.get(topic) ?? []).map((handler) => runAsRequestOf(event, () => handler(event))),
        );
    },
  };
}
