import { Gauge, Histogram, type Registry } from 'prom-client';

/** What is measured of a pool of database connections. */
export interface MeasuredPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { max: number };
  connect: (...args: never[]) => unknown;
}

/** Pools of this process, and how long work waited for a connection. */
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
    help: 'Statements that wait for a database connection now.',
    labelNames: ['service'],
    registers,
    collect() {
      for (const [service, pool] of pools) this.set({ service }, pool.waitingCount);
    },
  });
  const waits = new Histogram({
    name: 'accord_db_wait_seconds',
    help: 'How long statements waited for a database connection, of those that had to.',
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

/** pg tells when a connection is given out, and not since when it was waited for: `query` goes through `connect`, too. */
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
