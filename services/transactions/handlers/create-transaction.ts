import type { Handler } from '#lib/http/operation.ts';
import { createTransaction } from '../commands/create-transaction.ts';
import { readContext } from '../commands/read-context.ts';
import { unknownFields } from '../domain/gather-fields.ts';
import type { Dependencies } from './dependencies.ts';
import { sendTransaction } from './send.ts';

/** POST /consents */
export function createTransactionHandler(dependencies: Dependencies): Handler {
  const { db, forms, instance, wake } = dependencies;
  return async (ctx, { body, principal }) => {
    const context = readContext(body, principal);
    const made = await createTransaction({ db, forms, source: instance.baseUrl, wake }, context, principal);
    const warnings = unknownFields(body);
    await sendTransaction(ctx, dependencies, made, { principal, warnings }, made.created ? 201 : 200);
  };
}
