import { Counter, Histogram, type Registry } from 'prom-client';

interface Answer {
  service: string;
  /** Its operationId; undefined if none was found. */
  operation: string | undefined;
  status: number;
  ms: number;
  /** Whether it takes a subject's answers. */
  isSubmit: boolean;
}

/** What a service has answered. */
export interface HttpMetrics {
  answered(answer: Answer): void;
  /** Refused because the process has too much to do. */
  refused(facts: { service: string; priority: string; reason: string }): void;
  /** Admitted after waiting for a place. */
  waited(facts: { priority: string; ms: number }): void;
}

/** So many at the most wait to be counted: together they take a fraction of the time that one takes among other work. */
const mostUncounted = 500;
const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Labels are names of ours alone: operations, services, classes of status. */
export function createHttpMetrics(registers: Registry[]): HttpMetrics {
  const uncounted: Answer[] = [];
  const count = () => {
    for (const { service, operation = 'none', status, ms, isSubmit } of uncounted.splice(0)) {
      const family = `${Math.floor(status / 100)}xx`;
      requests.observe({ service, operation, status: family }, ms / 1000);
      if (isSubmit) submits.observe({ status: family }, ms / 1000);
    }
  };
  const requests = new Histogram({
    name: 'accord_http_request_duration_seconds',
    help: 'How long answers took, by operation and class of status.',
    labelNames: ['service', 'operation', 'status'],
    buckets: seconds,
    registers,
    collect: count,
  });
  const submits = new Histogram({
    name: 'accord_submit_duration_seconds',
    help: 'How long it took to take the answers of a subject, by class of status.',
    labelNames: ['status'],
    buckets: [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10],
    registers,
    collect: count,
  });
  const refusals = new Counter({
    name: 'accord_http_refused_total',
    help: 'Requests refused with 503 because the process had too much to do, by priority and by the limit that was reached.',
    labelNames: ['service', 'priority', 'reason'],
    registers,
  });
  const waits = new Histogram({
    name: 'accord_http_queue_wait_seconds',
    help: 'How long admitted requests waited for a place, by priority; those that did not wait are not counted.',
    labelNames: ['priority'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 2, 5],
    registers,
  });
  return {
    answered(answer) {
      if (uncounted.push(answer) >= mostUncounted) count();
    },
    refused(labels) {
      refusals.inc(labels);
    },
    waited({ priority, ms }) {
      waits.observe({ priority }, ms / 1000);
    },
  };
}
