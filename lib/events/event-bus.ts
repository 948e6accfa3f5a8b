import type { AccordEvent, OutboundEvent, Topic } from '#lib/events/event.ts';
import type { Reader } from '#lib/events/reader.ts';

/**
 * Reacts to one event; has done so for good when it returns. Must be idempotent: events may come twice and in any order. What it
 * throws is taken for a fault that passes, and the event comes again; a {@link PoisonError} puts the event aside for good.
 * @param arrivedAt on the clock of `performance.now()`: what is looked up later is no older than the event.
 */
export type EventHandler = (event: AccordEvent, arrivedAt: number) => Promise<void>;

/** An event that was not acknowledged. */
export interface Unsent {
  /** The event's id. */
  id: string;
  /** True if no repetition can help: it breaks the contract, also of any newer release, or is larger than the carrier takes. */
  permanent: boolean;
  error: unknown;
}

/**
 * Carries events between services, at least once (reliability.md): they may come twice, late and in any order. What has been
 * acknowledged has reached the broker or, in one process, has been applied by every reader.
 */
export interface EventBus {
  /**
   * Resolves with the events that were not acknowledged; of those nobody knows whether they have arrived, so they are sent again
   * unless they are `permanent`. Never rejects.
   */
  publish(events: readonly OutboundEvent[]): Promise<readonly Unsent[]>;
  /** Topics of which nothing came through just now: for a little while nothing should be sent to them. What is for others does not wait for that. */
  pausedTopics(): readonly Topic[];
  /** Registers a handler; before {@link start}. A reader's name is its service's: its replicas share it. */
  subscribe(topic: Topic, reader: Reader, handler: EventHandler): void;
  /**
   * Whether what was acknowledged can still be lost with the carrier's own storage; then it is kept for a while, to be sent again
   * when {@link onTopicLost} tells that a topic has begun anew.
   */
  readonly canLose: boolean;
  onTopicLost(listener: (topic: Topic) => void): void;
  /** How many events topics have taken since they began; those of which the carrier cannot say it now are left out. @throws if it cannot be asked. */
  taken(topics: readonly Topic[]): Promise<ReadonlyMap<Topic, number>>;
  /** What one event costs more than to be sent with others: where they follow closely, those of so many milliseconds should go together, and of more where they are many. */
  readonly lingerMs: number;
  /** Begins to read. Does not wait for the carrier, which may be down for as long as it likes. */
  start(): void;
  /** Resolves when every subscription is in force: what is published from now on reaches each of them. */
  joined(): Promise<void>;
  /** Ends reading; events can still be published. Resolves when no handler runs any more; within 2 s whatever becomes of the carrier. */
  stopReading(): Promise<void>;
  /** Ends everything. Resolves within 3 s after the last handler, whatever becomes of the carrier. */
  stop(): Promise<void>;
}
