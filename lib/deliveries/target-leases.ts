import type { Database, Queries } from '#lib/db/database.ts';
import { type Statement, sql } from '#lib/db/sql.ts';
import type { DeliveryTables, DueRow } from './delivery-kind.ts';

/** A target that this process may send to until its lease expires. */
export interface Lease {
  key: string;
  /** Increases with every lease of the target: results of an earlier lease are not recorded. */
  fence: string;
}

/** Health of a target after attempts. */
export interface TargetHealth {
  key: string;
  /** Consecutive failures. */
  failures: number;
  /** Wait before the next attempt to the target. */
  waitMs: number;
}

/** A target whose lease this process holds. */
interface LockedTarget {
  fence: string;
  generation: string;
  failures: number;
}

/** A lease that is not renewed expires after this time. */
export const leaseSeconds = 25;

/**
 * Leases of targets in PostgreSQL: at most one process sends to a target at a time, so that limits per target
 * hold over all processes without a lease for each delivery. Leases use the database's real time; deliveries
 * use `accord_now()`, which tests can shift.
 * @param owner unique id of this process: if PostgreSQL loses a lease in a crash, another process may get the
 * same fence; the owner tells the two leases apart.
 */
export function createTargetLeases<Row extends DueRow>(
  db: Database,
  { tables, owner }: { tables: DeliveryTables; owner: string },
) {
  const { targets, targetKey, targetKeyType, ready, rows, rowKey, rowKeyType, rowTarget, due } = tables;
  const until = sql`now() + ${leaseSeconds} * interval '1 second'`;
  const arraysOf = (leases: readonly Lease[]): Statement =>
    sql`${leases.map(({ key }) => key)}::text[], ${leases.map(({ fence }) => fence)}::bigint[]`;
  const listed = (leases: readonly Lease[]): Statement => sql`unnest(${arraysOf(leases)}) AS h (key, fence)`;
  const isHeld = sql`
    ${targetKey} = h.key::${targetKeyType} AND t.fence = h.fence AND t.lease_owner = ${owner}`;
  const queryQueue = <T>(statement: Statement) =>
    db.withTransaction((tx) => tx.query<T>(statement), { indexPlans: true });

  return {
    /**
     * Leases targets with due deliveries, healthy ones first. SKIP LOCKED skips targets that another process
     * is leasing.
     */
    claim(limit: number): Promise<Lease[]> {
      return queryQueue<Lease>(sql`
        WITH free AS MATERIALIZED (
          SELECT ${targetKey} AS key FROM ${targets} AS t
           WHERE ${ready} AND t.next_at <= now() AND (t.lease_until IS NULL OR t.lease_until < now())
             AND EXISTS (SELECT FROM ${rows} AS d WHERE ${rowTarget} = ${targetKey} AND ${due})
           ORDER BY t.failures > 0, random()
           LIMIT ${limit} FOR NO KEY UPDATE OF t SKIP LOCKED)
        UPDATE ${targets} AS t SET lease_owner = ${owner}, lease_until = ${until}, fence = t.fence + 1
          FROM free AS f WHERE ${targetKey} = f.key
        RETURNING ${targetKey}::text AS key, t.fence::text AS fence`);
    },

    /** Extends leases. @returns the keys that this process still holds. */
    async renew(leases: readonly Lease[]): Promise<ReadonlySet<string>> {
      const found = await db.query<{ key: string }>(sql`
        UPDATE ${targets} AS t SET lease_until = ${until} FROM ${listed(leases)}
         WHERE ${isHeld} RETURNING h.key`);
      return new Set(found.map(({ key }) => key));
    },

    /** Releases leases, so that another process can claim the targets at once. */
    async release(leases: readonly Lease[]): Promise<void> {
      if (leases.length === 0) return;
      await db.query(sql`
        UPDATE ${targets} AS t SET lease_owner = NULL, lease_until = NULL
          FROM ${listed(leases)} WHERE ${isHeld}`);
    },

    /**
     * Reads due deliveries of leased targets, oldest first; of a failing target only one delivery.
     * @param wanted targets, with the maximum number of rows of each (`room`).
     * @param exclude ids that this process already has.
     */
    readDue(wanted: readonly (Lease & { room: number })[], exclude: readonly string[]): Promise<Row[]> {
      return queryQueue<Row>(sql`
        SELECT h.key AS "targetKey", t.failures AS "targetFailures", ${tables.generation} AS generation,
               ${tables.columns}
          FROM unnest(${arraysOf(wanted)}, ${wanted.map(({ room }) => room)}::int[]) AS h (key, fence, room)
          JOIN ${targets} AS t ON ${isHeld}
         CROSS JOIN LATERAL (
               SELECT d.* FROM ${rows} AS d
                WHERE ${rowTarget} = ${targetKey} AND ${due}
                  AND NOT ${rowKey} = ANY(${exclude}::${rowKeyType}[])
                ORDER BY d.not_before
                LIMIT CASE WHEN t.failures > 0 THEN 1 ELSE h.room END) AS d
         WHERE ${ready} AND t.next_at <= now()`);
    },

    /**
     * Locks leased targets, ordered by key to avoid deadlocks. @returns those whose lease this process still
     * holds.
     */
    async lock(tx: Queries, leases: readonly Lease[]): Promise<ReadonlyMap<string, LockedTarget>> {
      const found = await tx.query<LockedTarget & { key: string }>(sql`
        SELECT h.key, h.fence::text AS fence, ${tables.generation} AS generation, t.failures
          FROM ${listed(leases)} JOIN ${targets} AS t ON ${isHeld}
         ORDER BY ${targetKey} FOR NO KEY UPDATE OF t`);
      return new Map(found.map(({ key, ...target }) => [key, target]));
    },

    async recordHealth(tx: Queries, health: readonly TargetHealth[]): Promise<void> {
      if (health.length === 0) return;
      await tx.query(sql`
        UPDATE ${targets} AS t
           SET failures = h.failures, next_at = now() + h.wait * interval '1 millisecond'
          FROM unnest(${health.map(({ key }) => key)}::text[],
                      ${health.map(({ failures }) => failures)}::int[],
                      ${health.map(({ waitMs }) => waitMs)}::float8[]) AS h (key, failures, wait)
         WHERE ${targetKey} = h.key::${targetKeyType}`);
    },
  };
}

export type TargetLeases<Row extends DueRow> = ReturnType<typeof createTargetLeases<Row>>;
