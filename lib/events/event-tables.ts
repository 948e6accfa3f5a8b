import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { TableReaders } from '#lib/observability/metrics/table-metrics.ts';

/** A long outage leaves many rows, and whoever asks does not need to know exactly how many. */
const countedAtMost = 100_000;

/** What metrics read of a service's outbox and of the events that it has put aside. */
export function eventTables(service: string, db: Queries): TableReaders {
  return {
    service,
    outbox: () =>
      db.one(sql`
        SELECT (SELECT count(*)::int FROM (SELECT 1 FROM outbox LIMIT ${countedAtMost}) AS o) AS rows,
               coalesce((SELECT extract(epoch FROM accord_now() - (o.event->>'time')::timestamptz)::float8
                           FROM outbox AS o ORDER BY o.id LIMIT 1), 0) AS "oldestSeconds"`),
    deadLetters: () =>
      db.query(sql`SELECT d.topic, count(*)::int AS count FROM dead_letters AS d GROUP BY d.topic`),
  };
}
