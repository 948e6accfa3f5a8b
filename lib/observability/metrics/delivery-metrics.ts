import { Counter, Histogram, type Registry } from 'prom-client';

/** What became of calls to the outside: webhooks, and later mail and peers. Never the address. */
export interface DeliveryMetrics {
  /** @param kind `webhook`, … @param outcome `delivered`, `failed` (tried again later) or `given-up`. */
  attempted(facts: { kind: string; outcome: 'delivered' | 'failed' | 'given-up'; ms: number }): void;
}

export function createDeliveryMetrics(registers: Registry[]): DeliveryMetrics {
  const attempts = new Counter({
    name: 'accord_delivery_attempts_total',
    help: 'Attempts to deliver something to the outside, by what became of them.',
    labelNames: ['kind', 'outcome'],
    registers,
  });
  const duration = new Histogram({
    name: 'accord_delivery_duration_seconds',
    help: 'How long the outside took to answer.',
    labelNames: ['kind'],
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    registers,
  });
  return {
    attempted({ kind, outcome, ms }) {
      attempts.inc({ kind, outcome });
      duration.observe({ kind }, ms / 1000);
    },
  };
}
