import type { Handler } from '#lib/http/operation.ts';
import { cancelTransaction } from '../commands/cancel-transaction.ts';
import type { Dependencies } from './dependencies.ts';
import { redirectAfterSending, sendTransaction } from './send.ts';

/** POST /consents/{txid}/cancel */
export function cancelTransactionHandler(dependencies: Dependencies): Handler {
  const { db, instance, wake } = dependencies;
  return async (ctx, { params, principal, form, mode }) => {
    const read = await cancelTransaction(
      { db, baseUrl: instance.baseUrl, wake },
      { id: params.txid ?? '', principal },
    );
    if (form || mode === 'html') return redirectAfterSending(ctx, dependencies, read, { principal });
    return sendTransaction(ctx, dependencies, read, { principal });
  };
}
