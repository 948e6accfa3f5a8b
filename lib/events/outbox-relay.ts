import { createPollLoop } from '#lib/async/poll-loop.ts';
import { settleWithin } from '#lib/async/timing.ts';
import type { Database } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { parkDeadLetter } from '#lib/events/dead-letters.ts';
import type { EventBus, OutboundEvent, Topic, Unsent } from '#lib/events/event-bus.ts';
import { finishRows, forgetSent } from '#lib/events/sent-events.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

/** Publishes the outbox rows of a service. */
export interface OutboxRelay {
  start(): void;
  /** Call after a COMMIT that wrote outbox rows; cheaper than NOTIFY, which halves write throughput. */
  wake(): void;
  /**
   * Publishes the outbox for at most 2 s, then stops; the next relay publishes the rest. Resolves within
   * 3 s.
   */
  stop(): Promise<void>;
}

interface Options {
  db: Database;
  bus: Pick<EventBus, 'publish' | 'canLose' | 'lingerMs' | 'pausedTopics'>;
  log: Logger;
  metrics?: EventMetrics | undefined;
}

/** A lost COMMIT only repeats sending. Plans use indexes: statistics lag behind a fast-growing outbox. */
const relayWork = { asyncCommit: true, indexPlans: true };

interface OutboxRow extends OutboundEvent {
  id: string;
}

const batchSize = 200;
/** The bus's linger time grows with the number of rows sent, up to this factor. */
const maxLingerFactor = 2;
/** The number of rows that reaches the factor. */
const fullRows = 5;
/** Longer than the time-outs of the bus; otherwise two relays would send the same rows. */
const leaseSeconds = 30;
/** Back-off of rows that could not be sent. */
const maxBackoffSeconds = 5;
const flushMs = 2_000;
/** Further time for the current batch. */
const lastBatchMs = 1_000;
/** Old rows are removed in portions; if more rows are left, the next portion after `tidySoonMs`. */
const tidyMs = 5_000;
const tidySoonMs = 200;

/**
 * Leases rows, publishes them outside of any transaction, and deletes the acknowledged ones. It does not use
 * a cursor over ids, because sequence order is not commit order. The lease of a dead relay expires.
 */
export function createOutboxRelay(options: Options): OutboxRelay {
  const { db, bus, log } = options;
  const loop = createPollLoop({
    look: drain,
    lingerMs: () => bus.lingerMs * Math.min(maxLingerFactor, 1 + sent / fullRows),
  });
  let stopped = true;
  let nextTidy = 0;
  let claimsUntil = Number.POSITIVE_INFINITY;
  /** Rows that the last poll published or stored as dead letters. */
  let sent = 0;

  /** @returns how many rows were published or stored as dead letters. */
  async function sendBatch(): Promise<number> {
    const rows = await db.withTransaction((tx) => tx.query<OutboxRow>(claim(bus.pausedTopics())), relayWork);
    if (rows.length === 0) return 0;
    // RETURNING has no order.
    rows.sort((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
    const unsent = new Map((await bus.publish(rows)).map((each) => [each.id, each]));
    const acknowledged = rows.filter((row) => !unsent.has(row.event.id));
    if (acknowledged.length > 0)
      await db.withTransaction((tx) => finishRows(tx, idsOf(acknowledged), bus.canLose), relayWork);
    const permanent = rows.filter((row) => unsent.get(row.event.id)?.permanent);
    for (const row of permanent) await storeDeadLetter(options, row, unsent.get(row.event.id) as Unsent);
    await release(options, rows, [...unsent.values()]);
    return acknowledged.length + permanent.length;
  }

  async function tidy(): Promise<void> {
    if (!bus.canLose || performance.now() < nextTidy) return;
    const isMore = await forgetSent(db);
    nextTidy = performance.now() + (isMore ? tidySoonMs : tidyMs);
  }

  async function drain(isExpected: boolean): Promise<boolean> {
    sent = 0;
    try {
      if (!isExpected && !(await hasRows(db))) await tidy();
      else await sendAll();
    } catch (error) {
      log.warn('failed to process the outbox; retried', { error });
    }
    return sent > 0;
  }

  async function sendAll(): Promise<void> {
    while (performance.now() < claimsUntil) {
      const done = await sendBatch();
      // Within the loop, because the loop does not end under constant load.
      await tidy();
      sent += done;
      // New rows wake this relay, or the next poll finds them. While it stops, it reads until none is left.
      if (done === 0 || (done < batchSize && !stopped)) break;
    }
  }

  return {
    start() {
      stopped = false;
      loop.start();
    },
    wake: loop.wake,
    async stop() {
      if (stopped) return;
      stopped = true;
      claimsUntil = performance.now() + flushMs;
      await settleWithin(
        flushMs + lastBatchMs,
        loop.stop().then(() => drain(true)),
      );
    },
  };
}

/** One statement; `claim` takes three with its transaction, and most polls find an empty outbox. */
async function hasRows(db: Database): Promise<boolean> {
  const rows = await db.query(sql`SELECT o.id FROM outbox AS o ORDER BY o.id LIMIT 1`);
  return rows.length > 0;
}

/**
 * Leases the first row of each key, with the rows of that key that closely follow it. While another relay
 * has the first row, or the first row waits for a retry, no later row of its key is leased.
 * @param pausedTopics are skipped, so that their rows do not take the place of others.
 */
const claim = (pausedTopics: readonly Topic[]) => sql`
  UPDATE outbox AS o
     SET lease_until = now() + ${leaseSeconds} * interval '1 second', attempts = o.attempts + 1
    FROM (SELECT c.id, c.topic, c.key FROM outbox AS c
           WHERE c.topic <> ALL(${pausedTopics}::text[]) AND c.not_before <= now()
             AND (c.lease_until IS NULL OR c.lease_until < now())
             AND NOT EXISTS (SELECT FROM outbox AS e WHERE e.topic = c.topic AND e.key = c.key AND e.id < c.id)
           ORDER BY c.id
           LIMIT ${batchSize}
             FOR UPDATE SKIP LOCKED) AS first
   WHERE o.topic = first.topic AND o.key = first.key AND o.id < first.id + ${batchSize}
  RETURNING o.id, o.topic, o.key, o.event`;

const idsOf = (rows: readonly OutboxRow[]) => rows.map((row) => row.id);

/** Stores an event that cannot be sent as a dead letter, so that it is not retried for ever. */
async function storeDeadLetter(
  { db, log, metrics }: Options,
  row: OutboxRow,
  { error }: Unsent,
): Promise<void> {
  const { id, topic, event } = row;
  await db.withTransaction(async (tx) => {
    await parkDeadLetter(tx, {
      consumer: 'relay',
      topic,
      place: id,
      eventId: event.id,
      type: event.type,
      subject: event.subject,
      reason: error instanceof Error ? error.message : 'The bus refuses the event.',
    });
    await finishRows(tx, [row.id], false);
  });
  log.error('an event cannot be published; stored it as a dead letter', { topic, eventId: event.id, error });
  metrics?.deadLettered({ consumer: 'relay', topic });
}

/** Frees the unacknowledged rows, with a back-off. */
async function release(
  { db, log }: Options,
  rows: readonly OutboxRow[],
  unsent: readonly Unsent[],
): Promise<void> {
  const again = new Set(unsent.filter((each) => !each.permanent).map((each) => each.id));
  const ids = idsOf(rows.filter((row) => again.has(row.event.id)));
  if (ids.length === 0) return;
  log.warn('failed to publish events; they stay in the outbox', {
    count: ids.length,
    error: unsent.find(({ permanent }) => !permanent)?.error,
  });
  await db.query(sql`
    UPDATE outbox SET lease_until = NULL,
           not_before = now() + least(${maxBackoffSeconds}, 0.1 * 2 ^ least(attempts, 10)) * interval '1 second'
     WHERE id = ANY(${ids}::bigint[])`);
}
