import type { Database } from '#lib/db/database.ts';
import type { KeyedHash } from '../domain/keyed-hash.ts';

/** What the handlers of this service work with; built in compose.ts. */
export interface Dependencies {
  db: Database;
  keyedHash: KeyedHash;
  baseUrl: string;
  /** Tells the outbox relay that there is something to send. */
  wake: () => void;
}
