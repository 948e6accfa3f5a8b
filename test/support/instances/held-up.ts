import pg from 'pg';
import type { TestInstance } from './instance.ts';
import { replicaConnections } from './owner-instance.ts';

/** A lock that holds up the replicas of an instance at a place that a test chooses. */
export interface HeldUp {
  /**
   * Ends as soon as so many statements of replicas wait for the lock, or for one that does. @returns the
   * first backend that waits.
   */
  waiting(count: number): Promise<number>;
  /** Ends a backend in the middle of its work, as a database that crashes does. */
  kill(backend: number): Promise<void>;
  /** @param end whether what holds them up comes about. */
  release(end?: 'COMMIT' | 'ROLLBACK'): Promise<void>;
}

/**
 * Holds up every statement that needs what this one locks. @param connections whose statements are watched.
 */
export async function holdUp(
  { databaseUrl }: Pick<TestInstance, 'databaseUrl'>,
  statement: string,
  connections = replicaConnections,
): Promise<HeldUp> {
  const [holder, watcher] = [1, 2].map(() => new pg.Client({ connectionString: databaseUrl })) as [
    pg.Client,
    pg.Client,
  ];
  await Promise.all([holder.connect(), watcher.connect()]);
  await holder.query(`BEGIN; ${statement}`);
  return {
    async waiting(count) {
      for (;;) {
        const { rows } = await watcher.query<{ pid: number; first: boolean }>(
          `SELECT a.pid, EXISTS (SELECT 1 FROM pg_locks AS l WHERE l.pid = a.pid AND NOT l.granted AND l.locktype = 'relation') AS first
             FROM pg_stat_activity AS a WHERE a.datname = current_database() AND a.application_name = $1 AND cardinality(pg_blocking_pids(a.pid)) > 0`,
          [connections],
        );
        const first = rows.find((row) => row.first) ?? rows[0];
        if (rows.length >= count && first) return first.pid;
      }
    },
    async kill(backend) {
      await watcher.query('SELECT pg_terminate_backend($1)', [backend]);
    },
    async release(end = 'ROLLBACK') {
      await holder.query(end);
      await Promise.all([holder.end(), watcher.end()]);
    },
  };
}
