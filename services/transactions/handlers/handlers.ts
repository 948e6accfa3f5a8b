import type { Handlers } from '#lib/http/operation.ts';
import { cancelTransactionHandler } from './cancel-transaction.ts';
import { createChildHandler } from './create-child.ts';
import { createTransactionHandler } from './create-transaction.ts';
import type { Dependencies } from './dependencies.ts';
import { extractRecordsHandler } from './extract-records.ts';
import { getChildHandler } from './get-child.ts';
import { getContextHandler } from './get-context.ts';
import { getFormHandler } from './get-form.ts';
import { getReceiptHandler } from './get-receipt.ts';
import { getStatsHandler } from './get-stats.ts';
import { getTransactionHandler } from './get-transaction.ts';
import { listOwnRecordsHandler, listRecordsHandler, listSubjectRecordsHandler } from './list-records.ts';
import { listSubjectsHandler } from './list-subjects.ts';
import { listTransactionsHandler } from './list-transactions.ts';
import { previewFormHandler } from './preview-form.ts';
import { searchTransactionsHandler } from './search-transactions.ts';
import { submitAnswersHandler } from './submit-answers.ts';
import { submitSingleStepHandler } from './submit-single-step.ts';
import { createSubjectHandler, getSubjectHandler, updateSubjectHandler } from './write-subject.ts';

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
