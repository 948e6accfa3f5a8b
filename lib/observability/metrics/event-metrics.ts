import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Published and applied events. */
export interface EventMetrics {
  /** Acknowledged by the bus. */
  published(topic: string, count: number): void;
  /** A batch on Kafka, or an event within one process, was not published completely. */
  publishFailed(topic: string): void;
  /** Applied and committed. @param time of the event (RFC 3339). */
  applied(facts: { consumer: string; topic: string; time: string }): void;
  /** Skipped because of a permanent failure; all but readers of each replica store a dead letter. */
  deadLettered(facts: { consumer: string; topic: string }): void;
  /** Messages between a consumer's position and the end of its topic. */
  lag(facts: { consumer: string; topic: string; messages: number }): void;
}

/** Ages of events when applied; the target is 250 ms at p99. */
const ages = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300, 3600];

export function createEventMetrics(registers: Registry[]): EventMetrics {
  const labelNames = ['consumer', 'topic'] as const;
  const published = new Counter({
    name: 'accord_events_published_total',
    help: 'Events that the bus acknowledged.',
    labelNames: ['topic'],
    registers,
  });
  const failed = new Counter({
    name: 'accord_events_publish_failures_total',
    help: 'Attempts to publish (on Kafka of a batch) that failed at least partly.',
    labelNames: ['topic'],
    registers,
  });
  const age = new Histogram({
    name: 'accord_event_age_seconds',
    help: 'Age of events when a consumer had applied them.',
    labelNames,
    buckets: ages,
    registers,
  });
  const dead = new Counter({
    name: 'accord_events_dead_lettered_total',
    help: 'Events that a consumer or relay skipped because of a permanent failure. All but readers of each replica store them as dead letters.',
    labelNames,
    registers,
  });
  const lag = new Gauge({
    name: 'accord_consumer_lag_messages',
    help: 'Messages that a consumer has not applied yet, as of its last attempt to apply one.',
    labelNames,
    registers,
  });
  return {
    published: (topic, count) => published.inc({ topic }, count),
    publishFailed: (topic) => failed.inc({ topic }),
    // Clock differences between machines may exceed the age.
    applied: ({ time, ...labels }) => age.observe(labels, Math.max(0, Date.now() - Date.parse(time)) / 1000),
    deadLettered: (labels) => dead.inc(labels),
    lag: ({ messages, ...labels }) => lag.set(labels, messages),
  };
}

/** Deliveries to webhooks, peers and subjects. Never the address. */
export interface DeliveryMetrics {
  /**
   * @param facts.outcome `failed`: retried later. @param facts.ms duration; undefined if the deadline ended
   * the delivery, not an attempt.
   */
  attempted(facts: { kind: string; outcome: 'delivered' | 'failed' | 'given-up'; ms?: number }): void;
}

export function createDeliveryMetrics(registers: Registry[]): DeliveryMetrics {
  const attempts = new Counter({
    name: 'accord_delivery_attempts_total',
    help: 'Delivery attempts and expired deliveries, by outcome.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'accord_delivery_duration_seconds',
    help: 'Duration of delivery attempts.',
    labelNames: ['kind'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers,
  });
  return {
    attempted({ kind, outcome, ms }) {
      attempts.inc({ kind, outcome });
      if (ms !== undefined) duration.observe({ kind }, ms / 1000);
    },
  };
}

/** Messages from peers. */
export interface PeerMetrics {
  /** Reports zero for `leader`, because an alert does not see the first increment of a new series. */
  watch(): void;
  /** A request or part was rejected. @param reason a fixed word of this code, never text from the peer. */
  rejected(reason: string): void;
}

export function createPeerMetrics(registers: Registry[]): PeerMetrics {
  const refusals = new Counter({
    name: 'accord_peer_refused_total',
    help: 'Rejected requests and parts in the name of peers, by reason.',
    labelNames: ['reason'],
    registers,
  });
  return {
    watch: () => refusals.inc({ reason: 'leader' }, 0),
    rejected: (reason) => refusals.inc({ reason }),
  };
}

/** Answers of the decision API. Never who asked, about whom. */
export interface DecisionMetrics {
  countDecision(reason: string): void;
}

export function createDecisionMetrics(registers: Registry[]): DecisionMetrics {
  const decisions = new Counter({
    name: 'accord_decisions_total',
    help: 'Answered questions of the decision API, by reason.',
    labelNames: ['reason'],
    registers,
  });
  return { countDecision: (reason) => decisions.inc({ reason }) };
}

/** Parts that peers sent. Never which peer. */
export interface SubmissionMetrics {
  /** Reports zero for conflicts, because an alert does not see the first increment of a new series. */
  watch(): void;
  /**
   * Counts a verdict on a part. A held part is counted again when a decision, a withdrawal or an erasure ends
   * it. Other verdicts are `rolledback` on a decision without a part, `decided` on a part that arrives after
   * its decision, withdrawal or erasure, and `conflict` on another body under the same sid.
   */
  countVerdict(given: { verdict: string; reason?: string | null }): void;
}

export function createSubmissionMetrics(registers: Registry[]): SubmissionMetrics {
  const verdicts = new Counter({
    name: 'accord_submissions_total',
    help: 'Verdicts of this instance on parts of peers; a held part counts again when it ends.',
    labelNames: ['verdict', 'reason'],
    registers,
  });
  return {
    watch: () => verdicts.inc({ verdict: 'refused', reason: 'conflict' }, 0),
    countVerdict: ({ verdict, reason }) => verdicts.inc({ verdict, reason: reason ?? '' }),
  };
}

/** Messages to subjects that will never be sent, or later because of a limit. Never the address. */
export interface MessageMetrics {
  /** Reports zero for every class, because an alert does not see the first increment of a new series. */
  watch(): void;
  /** @param facts.error class of the failure, such as `limit` or `smtp-550`. */
  countFailed(facts: { kind: 'mail' | 'sms'; error: string | null }): void;
  /** Counts a message that was refused or waits because of an hourly limit. */
  countLimited(limit: 'mails' | 'creator'): void;
}

const failures = [
  'limit',
  'address',
  'auth',
  'connection',
  'dns',
  'internal',
  'not-configured',
  'timeout',
  'tls',
];
const replies = ['smtp-4xx', 'smtp-5xx', 'http-3xx', 'http-4xx', 'http-5xx'];
const errorLabels = new Set([...failures, ...replies, 'other']);

export function createMessageMetrics(registers: Registry[]): MessageMetrics {
  const failed = new Counter({
    name: 'accord_messages_failed_total',
    help: 'Messages to subjects that were not sent and are not retried, by class of the last failure.',
    labelNames: ['kind', 'error'],
    registers,
  });
  const limited = new Counter({
    name: 'accord_messages_limited_total',
    help: 'Messages to subjects that were refused or wait because of an hourly limit.',
    labelNames: ['limit'],
    registers,
  });
  return {
    watch() {
      for (const limit of ['mails', 'creator']) limited.inc({ limit }, 0);
      for (const kind of ['mail', 'sms']) for (const error of errorLabels) failed.inc({ kind, error }, 0);
    },
    countLimited: (limit) => limited.inc({ limit }),
    countFailed({ kind, error }) {
      const label = (error ?? 'other').replace(/^(smtp|http)-(\d)\d\d$/, '$1-$2xx');
      failed.inc({ kind, error: errorLabels.has(label) ? label : 'other' });
    },
  };
}
