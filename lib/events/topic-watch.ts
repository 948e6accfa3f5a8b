import type { Database } from '#lib/db/database.ts';
import type { Topic } from '#lib/events/event.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { countSent } from '#lib/events/sent-events.ts';
import type { Logger } from '#lib/observability/logger.ts';

/** Looks now and then whether topics still have what was sent to them. */
export interface TopicWatch {
  start(): void;
  /** Resolves when nothing is looked at any more. */
  stop(): Promise<void>;
}

interface Parts {
  db: Database;
  bus: Pick<EventBus, 'canLose' | 'taken'>;
  log: Logger;
  onLost(topic: Topic): void;
}

const everyMs = 60_000;
/** While the carrier is away. */
const soonMs = 5_000;

/**
 * Who sends notices that a topic has begun anew by the numbers that it gives out. Nobody does who has not sent anything since its own start: not if
 * a topic was lost while every process was down, nor if nothing happens that would be sent. A topic that has taken fewer events than PostgreSQL knows
 * to have been acknowledged within the last day cannot be the one that took them.
 */
export function createTopicWatch({ db, bus, log, onLost }: Parts): TopicWatch {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let looking: Promise<void> = Promise.resolve();

  async function look(): Promise<boolean> {
    try {
      // In this order: what is sent in between is counted as taken.
      const sent = await countSent(db);
      if (sent.size === 0) return true;
      const taken = await bus.taken([...sent.keys()]);
      for (const [topic, count] of sent) {
        const has = taken.get(topic);
        if (has === undefined || has >= count) continue;
        log.error('a topic has lost what was sent to it; what was sent within the last day is sent again', {
          topic,
        });
        onLost(topic);
      }
      return taken.size === sent.size;
    } catch {
      // Whoever sends and reads tells that the carrier or PostgreSQL is away.
      return false;
    }
  }

  async function lookOn(): Promise<void> {
    const seen = await look();
    if (!stopped) timer = setTimeout(begin, seen ? everyMs : soonMs).unref();
  }

  function begin(): void {
    looking = lookOn();
  }

  return {
    start() {
      stopped = false;
      if (bus.canLose) begin();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
