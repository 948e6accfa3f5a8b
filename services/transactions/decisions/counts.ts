import { createRepeatedWork } from '#lib/async/repeated-work.ts';
import { recordAction } from '#lib/audit/record-action.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { DecisionMetrics } from '#lib/observability/metrics/event-metrics.ts';
import type { Decision } from './decision.ts';

/** Counts decisions for the audit log and the metrics. */
export interface DecisionCounts {
  /** @param account who asked, such as `key:<id>`. */
  count(account: string, decisions: readonly Decision[]): void;
  start(): void;
  /** Writes what has been counted, also between two hours. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

const hourMs = 60 * 60_000;

/**
 * Counts in memory and writes a line of the audit log for each caller and reason, hourly and at stop, so that
 * requests pay nothing for it. A killed process loses the counts of its last hour.
 */
export function createDecisionCounts({
  db,
  log,
  metrics,
}: {
  db: Database;
  log: Logger;
  metrics: DecisionMetrics | undefined;
}): DecisionCounts {
  let counts = new Map<string, Map<string, number>>();

  function add(account: string, reason: string, count: number): void {
    const byReason = counts.get(account) ?? new Map<string, number>();
    counts.set(account, byReason);
    byReason.set(reason, (byReason.get(reason) ?? 0) + count);
  }

  async function flush(): Promise<void> {
    const written = counts;
    counts = new Map();
    if (written.size === 0) return;
    const lines = [...written].flatMap(([account, byReason]) =>
      [...byReason].map(([reason, count]) => ({ account, reason, count })),
    );
    try {
      await db.withTransaction(async (tx) => {
        for (const { account, reason, count } of lines) {
          const target = `decision/${reason}:${count}`;
          await recordAction(tx, { action: 'decisions.counted', target }, account);
        }
      });
    } catch (error) {
      for (const { account, reason, count } of lines) add(account, reason, count);
      throw error;
    }
  }

  const hourly = createRepeatedWork({
    everyMs: hourMs,
    work: flush,
    onError: (error) => log.warn('failed to write counts of decisions; they are kept', { error }),
  });
  return {
    count(account, decisions) {
      for (const { reason } of decisions) {
        add(account, reason, 1);
        metrics?.countDecision(reason);
      }
    },
    start: hourly.start,
    flush,
    async stop() {
      // The last counts are written as the work of a last run, whose errors are logged.
      void hourly.runOnce();
      await hourly.stop();
    },
  };
}
