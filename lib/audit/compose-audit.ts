import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import { createAuditList } from '#lib/audit/list-lines.ts';
import type { Database, Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Handler } from '#lib/http/operation.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** A service's part in the audit log. */
export interface Audit {
  /** Answers `GET /audit/<area>`. */
  list: Handler;
  /** Deletes lines older than AUDIT_RETENTION, hourly. */
  sweeper: RepeatedWork;
}

const sweepMs = 60 * 60_000;
/** Lines deleted by one statement. */
const batch = 5_000;

/** @param options.retention AUDIT_RETENTION, ISO 8601. */
export function composeAudit({
  db,
  log,
  retention,
}: {
  db: Database;
  log: Logger;
  retention: string;
}): Audit {
  return {
    list: createAuditList(db),
    sweeper: createRepeatedWork({
      everyMs: sweepMs,
      async work(isStopped) {
        while (!isStopped() && (await deleteOldLines(db, retention)) === batch);
      },
      onError: (error) => log.warn('failed to delete old audit lines; retried in an hour', { error }),
    }),
  };
}

/** Deletes the oldest lines. @returns their number. */
async function deleteOldLines(db: Queries, retention: string): Promise<number> {
  const deleted = await db.query(sql`
    DELETE FROM audit_log AS l
     WHERE l.id IN (
       SELECT o.id FROM audit_log AS o WHERE o.at < accord_now() - ${retention}::interval
        ORDER BY o.at LIMIT ${batch})
    RETURNING l.id`);
  return deleted.length;
}
