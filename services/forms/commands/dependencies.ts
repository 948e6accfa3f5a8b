import type { Database } from '#lib/db/database.ts';

/** What changes of models work with. */
export interface Dependencies {
  db: Database;
  /** BASE_URL, the source of events. */
  source: string;
  /** Tells the relay that there are outbox rows. */
  wake: () => void;
}
