import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

interface Response {
  service: string;
  /** operationId; undefined if no operation matched. */
  operation: string | undefined;
  status: number;
  ms: number;
  /** Whether it submits or confirms a subject's answers. */
  isSubmit: boolean;
}

/** Requests of the HTTP interface. */
export interface HttpMetrics {
  answered(response: Response): void;
  /** Rejected because of overload. */
  refused(facts: { service: string; priority: string; reason: string }): void;
  /** Admitted after waiting in the admission queue. */
  waited(facts: { priority: string; ms: number }): void;
  /** A response to a stranger is held back (lib/http/pacer.ts). */
  held(): void;
}

/**
 * Responses are counted in batches of at most this size, which takes a fraction of the time of counting each.
 */
const maxUncounted = 500;
const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Labels are our own names only: operations, services, classes of status. */
export function createHttpMetrics(registers: Registry[]): HttpMetrics {
  const uncounted: Response[] = [];
  const count = () => {
    for (const { service, operation = 'none', status, ms, isSubmit } of uncounted.splice(0)) {
      const family = `${Math.floor(status / 100)}xx`;
      requests.observe({ service, operation, status: family }, ms / 1000);
      if (isSubmit) submits.observe({ status: family }, ms / 1000);
    }
  };
  const requests = new Histogram({
    name: 'accord_http_request_duration_seconds',
    help: 'Duration of requests, by operation and class of status.',
    labelNames: ['service', 'operation', 'status'],
    buckets: seconds,
    registers,
    collect: count,
  });
  const submits = new Histogram({
    name: 'accord_submit_duration_seconds',
    help: 'Duration of submissions and confirmations of answers, by class of status.',
    labelNames: ['status'],
    buckets: [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 2, 5, 10],
    registers,
    collect: count,
  });
  const refusals = new Counter({
    name: 'accord_http_refused_total',
    help: 'Requests rejected with 503 because of overload, by priority and by the limit that was reached.',
    labelNames: ['service', 'priority', 'reason'],
    registers,
  });
  const waits = new Histogram({
    name: 'accord_http_queue_wait_seconds',
    help: 'Time that admitted requests waited in the admission queue, by priority; immediate admissions are not counted.',
    labelNames: ['priority'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 2, 5],
    registers,
  });
  const holds = new Counter({
    name: 'accord_http_held_total',
    help: 'Responses to callers without credentials that were held back, so that they do not slow others down.',
    registers,
  });
  return {
    held: () => holds.inc(),
    answered(response) {
      if (uncounted.push(response) >= maxUncounted) count();
    },
    refused(labels) {
      refusals.inc(labels);
    },
    waited({ priority, ms }) {
      waits.observe({ priority }, ms / 1000);
    },
  };
}

/** The members of a connection pool that are measured. */
export interface MeasuredPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { max: number };
  connect: (...args: never[]) => unknown;
}

/** Measures the connection pools of this process. */
export function createPoolMetrics(registers: Registry[]): {
  watch(service: string, pool: MeasuredPool): void;
} {
  const pools = new Map<string, MeasuredPool>();
  new Gauge({
    name: 'accord_db_connections',
    help: 'Database connections of this process by state.',
    labelNames: ['service', 'state'],
    registers,
    collect() {
      for (const [service, pool] of pools) {
        this.set({ service, state: 'idle' }, pool.idleCount);
        this.set({ service, state: 'busy' }, pool.totalCount - pool.idleCount);
        this.set({ service, state: 'allowed' }, pool.options.max);
      }
    },
  });
  new Gauge({
    name: 'accord_db_waiting',
    help: 'Statements that wait for a database connection.',
    labelNames: ['service'],
    registers,
    collect() {
      for (const [service, pool] of pools) this.set({ service }, pool.waitingCount);
    },
  });
  const waits = new Histogram({
    name: 'accord_db_wait_seconds',
    help: 'Time that statements waited for a database connection; immediate ones are not counted.',
    labelNames: ['service'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
    registers,
  });
  return {
    watch(service, pool) {
      pools.set(service, pool);
      measureWaits(pool, (ms) => waits.observe({ service }, ms / 1000));
    },
  };
}

/**
 * pg reports when a connection is handed out, but not since when a statement waited. `query` uses `connect`
 * as well.
 */
function measureWaits(pool: MeasuredPool, waited: (ms: number) => void): void {
  type Callback = (...results: unknown[]) => void;
  const connect = pool.connect.bind(pool) as (done?: Callback) => unknown;
  const measured = (done?: Callback): unknown => {
    if (pool.idleCount > 0 || pool.totalCount < pool.options.max) return connect(done);
    const started = performance.now();
    const finish = () => waited(performance.now() - started);
    if (done)
      return connect((...results) => {
        finish();
        done(...results);
      });
    const connected = connect() as Promise<unknown>;
    connected.then(finish, finish);
    return connected;
  };
  pool.connect = measured as typeof pool.connect;
}
