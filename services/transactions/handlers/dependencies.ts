import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { Database } from '#lib/db/database.ts';
import type { AnswersDigests } from '../domain/answers-digest.ts';
import type { KnownForms } from '../domain/known-forms.ts';
import type { ReceiptSigner } from '../domain/receipt-signer.ts';
import type { TransactionTokens } from '../domain/transaction-token.ts';

/** What the handlers of this service work with; built in compose.ts. */
export interface Dependencies {
  db: Database;
  forms: FormsOperations;
  knownForms: KnownForms;
  tokens: TransactionTokens;
  signReceipt: ReceiptSigner;
  digests: AnswersDigests;
  instance: PageInstance;
  /** INSTANCE_LANGUAGE */
  defaultLanguage: string;
  /** EMBED_ORIGINS as CSP sources. */
  embedOrigins: string;
  /** EXPIRY_NOTICE */
  expiryNoticeMs: number;
  /** Tells the outbox relay that there is something to send. */
  wake: () => void;
}
