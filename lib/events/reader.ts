import type { Queries } from '#lib/db/database.ts';
import { type DeadLetter, parkDeadLetter } from '#lib/events/dead-letters.ts';

/** Who reads a topic. Made by {@link sharedReader} or {@link eachReplica}. */
export interface Reader {
  /** The service; a consumer group is named after it. */
  name: string;
  /** Whether replicas share the events among them; else each gets all. */
  shared: boolean;
  /** Puts aside an event that no repetition can help. */
  park(letter: DeadLetter): Promise<void>;
  /** Events may have been missed. */
  onGap(): void;
}

/** Each event is applied by one replica of the service, and comes however long none of them runs. */
export function sharedReader({ name, db }: { name: string; db: Queries }): Reader {
  return { name, shared: true, park: (letter) => parkDeadLetter(db, letter), onGap: () => {} };
}

/**
 * Each replica gets every event that is published while it runs, and none from before: for what it keeps in its own memory.
 * @param onGap called whenever events may have been missed: forget everything that they could have been about.
 */
export function eachReplica(name: string, onGap: () => void): Reader {
  return { name, shared: false, park: async () => {}, onGap };
}
