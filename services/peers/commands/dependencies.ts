import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerClient } from '../client/peer-client.ts';

/** What commands and handlers of this service use. Built in compose.ts. */
export interface Dependencies {
  db: Database;
  auth: Pick<AuthOperations, 'reservePairingKey' | 'usePairingKey' | 'spendPairingKeys'>;
  client: PeerClient;
  /** This instance's base URL. */
  baseUrl: string;
  /** Whether peers on this machine may use http (standalone). */
  plainLoopback: boolean;
  /** Thumbprints of all keys of this instance. */
  ownKids: ReadonlySet<string>;
  /** Signs this instance's self-description. */
  ownDescription: () => string;
  /** Wakes the outbox relay and the catalogue refresher. */
  wake: () => void;
  /** Sends the list of peers to the service forms. Never rejects: the list is sent again every minute. */
  updateForms: () => Promise<void>;
  log: Logger;
}
