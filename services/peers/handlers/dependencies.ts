import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Parts } from '../commands/dependencies.ts';
import type { ReceiptContent, ReceiptMatter } from '../domain/receipt.ts';

/** What the handlers of this service work with; built in compose.ts. */
export type Dependencies = Parts;

/** What handlers of submissions work with. */
export interface SubmissionDependencies {
  db: Database;
  transactions: Pick<TransactionsOperations, 'acceptSubmission' | 'decideSubmission' | 'readDecision'>;
  /** Makes a receipt for a peer. @param about.audience the peer's base URL. */
  sign: (content: ReceiptContent, about: ReceiptMatter & { audience: string }) => string;
  log: Logger;
  /** Counts a message that a peer should not have sent. */
  refused: (reason: string) => void;
}

/** The id of the peer that signed a request. */
export function peerIdOf(account: string): string {
  return account.slice('peer:'.length);
}
