import type { Database } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { AccordEvent, Topic } from '#lib/events/event.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** Moves a service's outbox rows to the bus. */
export interface OutboxRelay {
  start(): void;
  /** Call after a COMMIT that wrote outbox rows; cheaper than NOTIFY, which halves write throughput (reliability.md). */
  wake(): void;
  /** Sends what is there, then stops. */
  stop(): Promise<void>;
}

interface OutboxRow {
  id: string;
  topic: Topic;
  key: string;
  event: AccordEvent;
}

const batchSize = 200;
const leaseSeconds = 30;
const minPollMs = 50;
const maxPollMs = 500;

/**
 * Claims rows by lease, publishes them outside any database transaction, deletes them when all are acknowledged.
 * Never a cursor over ids: sequence order is not commit order. A relay that dies leaves a lease that runs out.
 */
export function createOutboxRelay({
  db,
  bus,
  log,
}: {
  db: Database;
  bus: EventBus;
  log: Logger;
}): OutboxRelay {
  let stopped = true;
  let running: Promise<void> | undefined;
  let wakeUp: (() => void) | undefined;
  let woken = false;

  async function sendBatch(): Promise<number> {
    const rows = await db.query<OutboxRow>(claim);
    if (rows.length === 0) return 0;
    await bus.publish(rows);
    await db.query(sql`DELETE FROM outbox WHERE id = ANY(${rows.map((row) => row.id)}::bigint[])`);
    return rows.length;
  }

  async function drain(): Promise<boolean> {
    try {
      let sent = 0;
      while ((await sendBatch()) > 0) sent += 1;
      return sent > 0;
    } catch (error) {
      log.warn('outbox rows stay for the next try', { error });
      return false;
    }
  }

  function pause(ms: number): Promise<void> {
    if (woken) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    let pollMs = minPollMs;
    while (!stopped) {
      woken = false;
      pollMs = (await drain()) ? minPollMs : Math.min(pollMs * 2, maxPollMs);
      if (!stopped) await pause(pollMs);
    }
    await drain();
  }

  return {
    start() {
      stopped = false;
      running = run();
    },
    wake() {
      woken = true;
      wakeUp?.();
    },
    async stop() {
      stopped = true;
      wakeUp?.();
      await running;
    },
  };
}

const claim = sql`
  UPDATE outbox AS o
     SET lease_until = now() + ${leaseSeconds} * interval '1 second', attempts = o.attempts + 1
   WHERE o.id IN (
           SELECT c.id FROM outbox AS c
            WHERE c.not_before <= now() AND (c.lease_until IS NULL OR c.lease_until < now())
            ORDER BY c.id
            LIMIT ${batchSize}
              FOR UPDATE SKIP LOCKED)
  RETURNING o.id, o.topic, o.key, o.event`;
