import type { TopicEvents } from '#lib/contracts/events.gen.ts';
import type { Queries } from '#lib/db/database.ts';
import { type DeadLetter, parkDeadLetter } from '#lib/events/dead-letters.ts';

/** The topics of asyncapi.yaml, created by `npm run topics`. */
export type Topic = keyof TopicEvents;

/**
 * A CloudEvents 1.0 event: ids, states and versions; never an answer, a contact datum or content. An event
 * about what an organisation knows of a withdrawal also has its name and comment (docs/webhooks.md).
 */
export interface AccordEvent {
  id: string;
  /** `io.accord.<name>.v1` */
  type: string;
  /** The instance's base URL. */
  source: string;
  /**
   * The id of the transaction, part, model, … that the event is about, or that it belongs to (asyncapi.yaml).
   */
  subject: string;
  /** RFC 3339 */
  time: string;
  data: Record<string, unknown>;
  /** Extension (CloudEvents 1.0 §3.1.2): the id of the request that caused the event, as in the log. */
  requestid?: string;
  /** Extension: the parent of the spans that the event causes (CloudEvents, Distributed Tracing). */
  traceparent?: string;
}

/** An event with its topic and its key. Events with the same topic and key are published in order. */
export interface OutboundEvent {
  topic: Topic;
  key: string;
  event: AccordEvent;
}

/** A consumer of a topic; made by {@link sharedReader} or {@link eachReplica}. */
export interface Reader {
  /** The service; a consumer group is named after it. */
  name: string;
  /** Whether replicas share the events; otherwise each gets all. */
  shared: boolean;
  /** Stores a dead letter. */
  park(letter: DeadLetter): Promise<void>;
  /** Called when events may have been missed. */
  onGap(): void;
}

/** Each event is applied by one replica of the service, even if none runs when it is published. */
export function sharedReader({ name, db }: { name: string; db: Queries }): Reader {
  return { name, shared: true, park: (letter) => parkDeadLetter(db, letter), onGap: () => {} };
}

/**
 * Each replica gets every event published while it runs. For caches in its memory.
 * @param onGap called when events may have been missed: drop everything that they could concern.
 */
export function eachReplica(name: string, onGap: () => void): Reader {
  return { name, shared: false, park: async () => {}, onGap };
}

/**
 * Reacts to an event; the effect is durable when it resolves. Must be idempotent, because events may come
 * repeatedly, also after later ones. After an error the event is retried; after a {@link PoisonError} it
 * becomes a dead letter.
 * @param arrivedAt on the clock of `performance.now()`; data read later is no older than the event.
 */
export type EventHandler = (event: AccordEvent, arrivedAt: number) => Promise<void>;

/** An event that was not acknowledged. */
export interface Unsent {
  /** The event's id. */
  id: string;
  /**
   * Whether it is not retried: the event is too large, the broker refuses it for good, or it violates the
   * contract and is more than a day old. It is retried for a day because a newer release may know its type.
   */
  permanent: boolean;
  error: unknown;
}

/** An event that was not published, because an earlier one with its key must be published first. */
export function heldBack({ event }: OutboundEvent): Unsent {
  const error = new Error('An earlier event with the same key was not published.');
  return { id: event.id, permanent: false, error };
}

/**
 * Carries events between services at least once. A reader gets the events of a key in the order in which they
 * were written, and may get an event again after later ones (docs/adr/0008-events-at-least-once.md). An
 * acknowledged event is stored by the broker or, in one process, applied by every reader.
 */
export interface EventBus {
  /**
   * Resolves with the events that were not acknowledged. They may have arrived all the same and are sent
   * again unless they are `permanent`. No event is published after an earlier one of its key that must be
   * sent again. Never rejects.
   */
  publish(events: readonly OutboundEvent[]): Promise<readonly Unsent[]>;
  /** Topics that cannot be written now; others are not affected. */
  pausedTopics(): readonly Topic[];
  /** Registers a handler, before {@link start}. Replicas of a service share its reader's name. */
  subscribe(topic: Topic, reader: Reader, handler: EventHandler): void;
  /**
   * Whether acknowledged events can be lost with the broker's storage. They are then kept for a day, so that
   * `npm run topics -- --refill` can send them again.
   */
  readonly canLose: boolean;
  /** How long a relay should wait for more events, in ms, because sending events one by one is expensive. */
  readonly lingerMs: number;
  /** Starts reading. Does not wait for the broker. */
  start(): void;
  /** Resolves when every subscription is active: events published from now on reach each of them. */
  joined(): Promise<void>;
  /**
   * Stops reading, and waits for running handlers, on Kafka at most 10 s. On Kafka publishing still works;
   * within one process events stay in the outbox.
   */
  stopReading(): Promise<void>;
  /** Stops everything. Resolves within 4 s after the last handler. */
  stop(): Promise<void>;
}
