import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** What became of events. Consumers and topics are names of ours. */
export interface EventMetrics {
  /** Sent and acknowledged by the bus. */
  published(topic: string, count: number): void;
  /** Sending failed; the rows stay in the outbox. */
  publishFailed(topic: string): void;
  /** Applied for good. @param time of the event (RFC 3339). */
  applied(facts: { consumer: string; topic: string; time: string }): void;
  /** Parked, because no repetition can help. */
  deadLettered(facts: { consumer: string; topic: string }): void;
  /** Messages between what a consumer has done and the end of its topic. */
  lag(facts: { consumer: string; topic: string; messages: number }): void;
}

/** How old events are when they have been applied: the target is 250 ms at p99. */
const ages = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600];

export function createEventMetrics(registers: Registry[]): EventMetrics {
  const labelNames = ['consumer', 'topic'] as const;
  const published = new Counter({
    name: 'accord_events_published_total',
    help: 'Events that the bus has acknowledged.',
    labelNames: ['topic'],
    registers,
  });
  const failed = new Counter({
    name: 'accord_events_publish_failures_total',
    help: 'Attempts to send events that failed; they are made again.',
    labelNames: ['topic'],
    registers,
  });
  const age = new Histogram({
    name: 'accord_event_age_seconds',
    help: 'How old events were when a consumer had applied them.',
    labelNames,
    buckets: ages,
    registers,
  });
  const dead = new Counter({
    name: 'accord_events_dead_lettered_total',
    help: 'Events that a consumer or a relay has put aside, because no repetition can help.',
    labelNames,
    registers,
  });
  const lag = new Gauge({
    name: 'accord_consumer_lag_messages',
    help: 'Messages that a consumer has still before it.',
    labelNames,
    registers,
  });
  return {
    published: (topic, count) => published.inc({ topic }, count),
    publishFailed: (topic) => failed.inc({ topic }),
    // Clocks of different machines may differ by more than an event takes.
    applied: ({ time, ...labels }) => age.observe(labels, Math.max(0, Date.now() - Date.parse(time)) / 1000),
    deadLettered: (labels) => dead.inc(labels),
    lag: ({ messages, ...labels }) => lag.set(labels, messages),
  };
}
