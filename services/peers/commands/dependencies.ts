import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerClient } from '../client/peer-client.ts';

/** Fetches a peer's keys, unless that was done in the last `minSeconds` (60). @returns whether it did. */
export type RefreshKeys = (url: string, minSeconds?: number) => Promise<boolean>;

/** What commands, jobs and handlers of this service use. Built in compose.ts. */
export interface Dependencies {
  db: Database;
  auth: Pick<AuthOperations, 'reservePairingKey' | 'usePairingKey' | 'spendPairingKeys'>;
  forms: FormsOperations;
  transactions: Omit<TransactionsOperations, 'createTransaction'>;
  client: PeerClient;
  refreshKeys: RefreshKeys;
  /** This instance's base URL. */
  baseUrl: string;
  /** Whether peers on this machine may use http (standalone). */
  plainLoopback: boolean;
  /** Thumbprints of all keys of this instance. */
  ownKids: ReadonlySet<string>;
  /** Signs this instance's self-description. */
  ownDescription: () => string;
  /** Counts rejected messages by reason, for metrics. */
  recordRejection: (reason: string) => void;
  wakeRelay: () => void;
  /**
   * Wakes the outbox relay and the catalogue refresher, and sends the list of peers to the service forms.
   * Never rejects: the list is sent again every minute.
   */
  afterPairingChange: () => Promise<void>;
  log: Logger;
}
