import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { Database } from '#lib/db/database.ts';
import type { Handlers } from '#lib/http/operation.ts';
import type { AnswersDigests } from '../domain/answers.ts';
import type { KnownForms } from '../domain/known-forms.ts';
import type { ReceiptSigner } from '../domain/receipt.ts';
import type { TransactionTokens } from '../domain/transaction-token.ts';
import { createChildHandler, getChildHandler } from './children.ts';
import { getFormHandler, previewFormHandler, submitAnswersHandler } from './forms.ts';
import { getReceiptHandler } from './receipts.ts';
import {
  extractRecordsHandler,
  listOwnRecordsHandler,
  listRecordsHandler,
  listSubjectRecordsHandler,
} from './records.ts';
import { getStatsHandler } from './stats.ts';
import {
  createSubjectHandler,
  getSubjectHandler,
  listSubjectsHandler,
  updateSubjectHandler,
} from './subjects.ts';
import { listTransactionsHandler, searchTransactionsHandler } from './transaction-lists.ts';
import {
  cancelTransactionHandler,
  createTransactionHandler,
  getContextHandler,
  getTransactionHandler,
  submitSingleStepHandler,
} from './transactions.ts';

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

/** The service's handlers by operationId (openapi.yaml, tag transactions). */
export function createHandlers(dependencies: Dependencies): Handlers {
  return {
    createTransaction: createTransactionHandler(dependencies),
    getTransaction: getTransactionHandler(dependencies),
    getForm: getFormHandler(dependencies),
    submitAnswers: submitAnswersHandler(dependencies),
    cancelTransaction: cancelTransactionHandler(dependencies),
    createChild: createChildHandler(dependencies),
    getChild: getChildHandler(dependencies),
    getContext: getContextHandler(dependencies),
    getReceipt: getReceiptHandler(dependencies),
    createSingleStepTransaction: submitSingleStepHandler(dependencies),
    previewForm: previewFormHandler(dependencies),
    listTransactions: listTransactionsHandler(dependencies),
    searchTransactions: searchTransactionsHandler(dependencies),
    listRecords: listRecordsHandler(dependencies),
    extractRecords: extractRecordsHandler(dependencies),
    listSubjects: listSubjectsHandler(dependencies),
    createSubject: createSubjectHandler(dependencies),
    getSubject: getSubjectHandler(dependencies),
    updateSubject: updateSubjectHandler(dependencies),
    listSubjectRecords: listSubjectRecordsHandler(dependencies),
    getUserRecords: listOwnRecordsHandler(dependencies),
    getStats: getStatsHandler(dependencies),
  };
}
