import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerClient } from '../client/peer-client.ts';

/** What commands of this service work with. */
export interface Parts {
  db: Database;
  auth: Pick<AuthOperations, 'reservePairingKey' | 'usePairingKey' | 'spendPairingKeys'>;
  client: PeerClient;
  /** This instance. */
  baseUrl: string;
  /** Whether http is good for peers on this machine (standalone). */
  plainLoopback: boolean;
  /** Thumbprints of all keys of this instance. */
  ownKids: ReadonlySet<string>;
  /** What this instance says of itself, signed. */
  ownDescription: () => Promise<string>;
  wake: () => void;
  /** Tells the service forms which peers there are, after a change. Does not fail: it is told again every minute. */
  tellForms: () => Promise<void>;
  log: Logger;
}
