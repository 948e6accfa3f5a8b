import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';

const countedAtMost = 100_000;

/**
 * How much of a service's outbox is still to be sent: rows (counted up to 100,000, because a long outage leaves many), and how long
 * the oldest has been there.
 */
export function readOutbox(db: Queries): Promise<{ rows: number; oldestSeconds: number }> {
  return db.one(sql`
    SELECT (SELECT count(*)::int FROM (SELECT 1 FROM outbox LIMIT ${countedAtMost}) AS o) AS rows,
           coalesce((SELECT extract(epoch FROM accord_now() - (o.event->>'time')::timestamptz)::float8
                       FROM outbox AS o ORDER BY o.id LIMIT 1), 0) AS "oldestSeconds"`);
}
