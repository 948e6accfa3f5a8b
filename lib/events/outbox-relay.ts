import { createPollLoop } from '#lib/async/poll-loop.ts';
import { settleWithin } from '#lib/async/timing.ts';
import type { Database } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { parkDeadLetter } from '#lib/events/dead-letters.ts';
import type { OutboundEvent, Topic } from '#lib/events/event.ts';
import type { EventBus, Unsent } from '#lib/events/event-bus.ts';
import { finishRows, forgetSent, sendAgain } from '#lib/events/sent-events.ts';
import { createTopicWatch } from '#lib/events/topic-watch.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { EventMetrics } from '#lib/observability/metrics/event-metrics.ts';

/** Moves a service's outbox rows to the bus. */
export interface OutboxRelay {
  start(): void;
  /** Call after a COMMIT that wrote outbox rows; cheaper than NOTIFY, which halves write throughput (reliability.md). */
  wake(): void;
  /** Sends what is there, for 2 s at most, and claims nothing after that; what is not sent stays for the next relay. Resolves within 3 s. */
  stop(): Promise<void>;
}

interface Parts {
  db: Database;
  bus: Pick<EventBus, 'publish' | 'canLose' | 'onTopicLost' | 'taken' | 'lingerMs' | 'pausedTopics'>;
  log: Logger;
  metrics?: EventMetrics | undefined;
  /** How long a topic that was lost stays as it is before it is filled again. */
  refillMs?: number;
}

/** A lost lease or removal only makes a relay send rows again; the outbox may fill within seconds. */
const relayWork = { asyncCommit: true, indexPlans: true };

interface OutboxRow extends OutboundEvent {
  id: string;
}

const batchSize = 200;
/** So many rows together let the next ones wait twice as long as the bus says; fewer, for less: the more come, the more go together. */
const crowd = 5;
const mostTimes = 2;
/** Longer than the bus takes at most, else two relays would send the same rows all the time. */
const leaseSeconds = 30;
/** Of rows that could not be sent. */
const maxBackOffSeconds = 5;
/**
 * A reader goes on at the number where it was, which a topic that has begun anew does not have yet: so it knows, and begins anew too. A topic that
 * was full again before it looks would have other events under the numbers that it leaves out. Longer than readers do not look for.
 */
const defaultRefillMs = 20_000;
const flushMs = 2_000;
/** For the batch that is under way then. */
const lastBatchMs = 1_000;
/** Some old rows go each time; sooner again while there are more, because more than that may come. */
const tidyMs = 5_000;
const tidySoonMs = 200;

/**
 * Claims rows by lease, publishes them outside any database transaction, deletes those that are acknowledged.
 * Never a cursor over ids: sequence order is not commit order. A relay that dies leaves a lease that runs out.
 */
export function createOutboxRelay(parts: Parts): OutboxRelay {
  const { db, bus, log } = parts;
  const refill = createRefill(parts);
  const watch = createTopicWatch({ ...parts, onLost: refill.wanted });
  bus.onTopicLost(refill.wanted);
  const loop = createPollLoop({
    look: drain,
    lingerMs: () => bus.lingerMs * Math.min(mostTimes, 1 + sent / crowd),
  });
  let stopped = true;
  let nextTidy = 0;
  let claimsUntil = Number.POSITIVE_INFINITY;
  /** With the last look. */
  let sent = 0;

  /** @returns how many rows are done with. */
  async function sendBatch(): Promise<number> {
    const rows = await db.withTransaction((tx) => tx.query<OutboxRow>(claim(bus.pausedTopics())), relayWork);
    if (rows.length === 0) return 0;
    // RETURNING has no order, and events that need not come out of order should not.
    rows.sort((one, other) => (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
    const unsent = new Map((await bus.publish(rows)).map((each) => [each.id, each]));
    const acknowledged = rows.filter((row) => !unsent.has(row.event.id));
    if (acknowledged.length > 0)
      await db.withTransaction((tx) => finishRows(tx, idsOf(acknowledged), bus.canLose), relayWork);
    const permanent = rows.filter((row) => unsent.get(row.event.id)?.permanent);
    for (const row of permanent) await putAside(parts, row, unsent.get(row.event.id) as Unsent);
    await release(parts, rows, [...unsent.values()]);
    return acknowledged.length + permanent.length;
  }

  async function tidy(): Promise<void> {
    if (!bus.canLose || performance.now() < nextTidy) return;
    const isMore = await forgetSent(db);
    nextTidy = performance.now() + (isMore ? tidySoonMs : tidyMs);
  }

  async function drain(): Promise<boolean> {
    sent = 0;
    try {
      while (performance.now() < claimsUntil) {
        await refill.fill();
        const done = await sendBatch();
        // Here and not at the end: while others write all the time there is none.
        await tidy();
        sent += done;
        // What was written meanwhile has woken this relay, or is found soon; before the end it is looked for once more.
        if (done === 0 || (done < batchSize && !stopped)) break;
      }
    } catch (error) {
      log.warn('outbox rows stay for the next try', { error });
    }
    return sent > 0;
  }

  return {
    start() {
      stopped = false;
      loop.start();
      watch.start();
    },
    wake: loop.wake,
    async stop() {
      if (stopped) return;
      stopped = true;
      claimsUntil = performance.now() + flushMs;
      await settleWithin(flushMs + lastBatchMs, Promise.all([loop.stop().then(drain), watch.stop()]));
    },
  };
}

/** Fills topics again that were lost; what is still to be done for one is forgotten only when that has been done. */
function createRefill({ db, refillMs = defaultRefillMs }: Parts) {
  const lost = new Map<Topic, { at: number; afterMs: number }>();
  return {
    wanted: (topic: Topic) => void lost.set(topic, { at: 0, afterMs: refillMs }),
    async fill(): Promise<void> {
      for (const [topic, due] of [...lost]) {
        if (due.at > performance.now()) continue;
        lost.delete(topic);
        try {
          await sendAgain(db, topic, due.afterMs);
        } catch (error) {
          lost.set(topic, due);
          throw error;
        }
        // What is sent meanwhile may be left out as well, where a reader had not read much: it goes with the rest.
        if (due.afterMs > 0) lost.set(topic, { at: performance.now() + 0.75 * refillMs, afterMs: 0 });
      }
    },
  };
}

/** @param pausedTopics topics that are left alone: rows that cannot go must not take the place of those that can, however many they are. */
const claim = (pausedTopics: readonly Topic[]) => sql`
  UPDATE outbox AS o
     SET lease_until = now() + ${leaseSeconds} * interval '1 second', attempts = o.attempts + 1
   WHERE o.id IN (
           SELECT c.id FROM outbox AS c
            WHERE c.topic <> ALL(${pausedTopics}::text[]) AND c.not_before <= now() AND (c.lease_until IS NULL OR c.lease_until < now())
            ORDER BY c.id
            LIMIT ${batchSize}
              FOR UPDATE SKIP LOCKED)
  RETURNING o.id, o.topic, o.key, o.event`;

const idsOf = (rows: readonly OutboxRow[]) => rows.map((row) => row.id);

/** No repetition can help: the row must not be sent for ever, and nothing else waits for it (reliability.md, "Outbox, inbox"). */
async function putAside({ db, log, metrics }: Parts, row: OutboxRow, { error }: Unsent): Promise<void> {
  const { id, topic, event } = row;
  await db.withTransaction(async (tx) => {
    await parkDeadLetter(tx, {
      ...{ consumer: 'relay', topic, place: id, eventId: event.id, type: event.type, subject: event.subject },
      reason: error instanceof Error ? error.message : 'The bus refuses it.',
    });
    await finishRows(tx, [row.id], false);
  });
  log.error('an event cannot be sent and was put aside', { topic, eventId: event.id, error });
  metrics?.deadLettered({ consumer: 'relay', topic });
}

/** What was not acknowledged is free for any relay again, a little later each time. */
async function release(
  { db, log }: Parts,
  rows: readonly OutboxRow[],
  unsent: readonly Unsent[],
): Promise<void> {
  const again = new Set(unsent.filter((each) => !each.permanent).map((each) => each.id));
  const ids = idsOf(rows.filter((row) => again.has(row.event.id)));
  if (ids.length === 0) return;
  log.warn('events could not be sent; they stay in the outbox', {
    count: ids.length,
    error: unsent[0]?.error,
  });
  await db.query(sql`
    UPDATE outbox SET lease_until = NULL,
           not_before = now() + least(${maxBackOffSeconds}, 0.1 * 2 ^ least(attempts, 10)) * interval '1 second'
     WHERE id = ANY(${ids}::bigint[])`);
}
