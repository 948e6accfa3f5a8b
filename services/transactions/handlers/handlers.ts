import type { Handlers } from '#lib/http/operation.ts';
import { cancelTransactionHandler } from './cancel-transaction.ts';
import { createChildHandler } from './create-child.ts';
import { createTransactionHandler } from './create-transaction.ts';
import type { Dependencies } from './dependencies.ts';
import { getChildHandler } from './get-child.ts';
import { getContextHandler } from './get-context.ts';
import { getFormHandler } from './get-form.ts';
import { getReceiptHandler } from './get-receipt.ts';
import { getTransactionHandler } from './get-transaction.ts';
import { submitAnswersHandler } from './submit-answers.ts';

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
  };
}
