import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import {
  createDecisionMetrics,
  createDeliveryMetrics,
  createEventMetrics,
  createMessageMetrics,
  createPeerMetrics,
  createSubmissionMetrics,
  type DecisionMetrics,
  type DeliveryMetrics,
  type EventMetrics,
  type MessageMetrics,
  type PeerMetrics,
  type SubmissionMetrics,
} from '#lib/observability/metrics/event-metrics.ts';
import {
  createHttpMetrics,
  createPoolMetrics,
  type HttpMetrics,
  type MeasuredPool,
} from '#lib/observability/metrics/http-metrics.ts';
import { createTableMetrics, type TableReaders } from '#lib/observability/metrics/table-metrics.ts';

/**
 * The metrics of a process; docs/operations.md explains each. Labels are our own names and ids of peers and
 * webhooks: never a subject, an address or input.
 */
export interface Metrics {
  http: HttpMetrics;
  events: EventMetrics;
  deliveries: DeliveryMetrics;
  messages: MessageMetrics;
  peers: PeerMetrics;
  submissions: SubmissionMetrics;
  decisions: DecisionMetrics;
  watchPool(service: string, pool: MeasuredPool): void;
  watchTables(readers: TableReaders): void;
  /** @param read requests in flight and queued, and the event loop delay, as the overload guard sees them. */
  watchLoad(read: () => Load): void;
  /** CPU, memory, garbage collection, event loop, handles. Called once, by the process's entry point. */
  watchProcess(): void;
  /** The answer of `GET /metrics`. Figures that the database does not return in time are left out. */
  read(): Promise<{ contentType: string; body: string }>;
}

interface Load {
  inFlight: number;
  /** By priority. */
  queued: Record<string, number>;
  delayMs: number;
}

/** Makes the metrics of a process, which its services share. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const pools = createPoolMetrics(registers);
  const tables = createTableMetrics(registers);
  return {
    http: createHttpMetrics(registers),
    events: createEventMetrics(registers),
    deliveries: createDeliveryMetrics(registers),
    messages: createMessageMetrics(registers),
    peers: createPeerMetrics(registers),
    submissions: createSubmissionMetrics(registers),
    decisions: createDecisionMetrics(registers),
    watchPool: pools.watch,
    watchTables: tables.watch,
    watchLoad: (read) => watchLoad(registers, read),
    watchProcess: () => collectDefaultMetrics({ register: registry }),
    async read() {
      await tables.collect();
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

function watchLoad(registers: Registry[], read: () => Load): void {
  new Gauge({
    name: 'accord_http_in_flight',
    help: 'Requests in flight.',
    registers,
    collect() {
      this.set(read().inFlight);
    },
  });
  new Gauge({
    name: 'accord_http_queue_length',
    help: 'Requests in the admission queue, by priority.',
    labelNames: ['priority'],
    registers,
    collect() {
      for (const [priority, length] of Object.entries(read().queued)) this.set({ priority }, length);
    },
  });
  new Gauge({
    name: 'accord_event_loop_delay_seconds',
    help: 'Delay of the event loop as the overload guard sees it.',
    registers,
    collect() {
      this.set(read().delayMs / 1000);
    },
  });
}

/** The delay of the event loop, which every request of this process experiences. */
export interface EventLoopDelay {
  /** Milliseconds, smoothed: one garbage collection does not count as overload, a second of delay does. */
  read(): number;
  stop(): void;
}

const everyMs = 50;
/** Weight of the newest reading: after 4 readings (200 ms) three quarters of the value are new. */
const weight = 0.3;

/** Measures the delay with a timer that does not keep the process alive. */
export function watchEventLoop(): EventLoopDelay {
  let smoothed = 0;
  let due = performance.now() + everyMs;
  const timer = setInterval(() => {
    const now = performance.now();
    smoothed += weight * (Math.max(0, now - due) - smoothed);
    due = now + everyMs;
  }, everyMs);
  timer.unref();
  return {
    // A blocked loop delays the timer as well, so overdue time counts.
    read: () => Math.max(smoothed, weight * (performance.now() - due)),
    stop: () => clearInterval(timer),
  };
}
