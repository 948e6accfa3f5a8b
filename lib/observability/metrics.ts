import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createDeliveryMetrics, type DeliveryMetrics } from '#lib/observability/metrics/delivery-metrics.ts';
import { createEventMetrics, type EventMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { createHttpMetrics, type HttpMetrics } from '#lib/observability/metrics/http-metrics.ts';
import { createPeerMetrics, type PeerMetrics } from '#lib/observability/metrics/peer-metrics.ts';
import { createPoolMetrics, type MeasuredPool } from '#lib/observability/metrics/pool-metrics.ts';
import {
  createSubmissionMetrics,
  type SubmissionMetrics,
} from '#lib/observability/metrics/submission-metrics.ts';
import { createTableMetrics, type TableReaders } from '#lib/observability/metrics/table-metrics.ts';

/**
 * What an on-call person asks a process first; docs/operations.md says what each figure means and what to do. A label is a name of
 * ours: never a subject, an address or anything that came in (security.md, "Assets and rules"), and no id but those of peers.
 */
export interface Metrics {
  http: HttpMetrics;
  events: EventMetrics;
  deliveries: DeliveryMetrics;
  peers: PeerMetrics;
  submissions: SubmissionMetrics;
  watchPool(service: string, pool: MeasuredPool): void;
  watchTables(readers: TableReaders): void;
  /** @param read requests that are worked on or queued, and the delay of the event loop, as the overload guard sees them. */
  watchLoad(read: () => Load): void;
  /** CPU, memory, garbage collection, event loop, handles: once, by the process's entry. */
  watchProcess(): void;
  /** What `GET /metrics` answers. Bounded: figures that the database does not give in time are left out. */
  read(): Promise<{ contentType: string; body: string }>;
}

interface Load {
  inFlight: number;
  /** By priority. */
  queued: Record<string, number>;
  delayMs: number;
}

/** Makes the metrics of a process; its services share them. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const pools = createPoolMetrics(registers);
  const tables = createTableMetrics(registers);
  return {
    http: createHttpMetrics(registers),
    events: createEventMetrics(registers),
    deliveries: createDeliveryMetrics(registers),
    peers: createPeerMetrics(registers),
    submissions: createSubmissionMetrics(registers),
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
    help: 'Requests that are being worked on.',
    registers,
    collect() {
      this.set(read().inFlight);
    },
  });
  new Gauge({
    name: 'accord_http_queue_length',
    help: 'Requests that wait for a place, by priority.',
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
