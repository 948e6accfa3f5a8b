import type { Handler } from '#lib/http/operation.ts';
import { keepColorScheme } from '#lib/pages/color-scheme.ts';
import { noSuchTransaction, requireAccess } from '../domain/access.ts';
import { linksOf, withToken } from '../domain/links.ts';
import { stateAt } from '../domain/states.ts';
import { mintToken } from '../presenters/present-transaction.ts';
import { readTransactionWithReceipt } from '../queries/read-transaction.ts';
import type { Dependencies } from './dependencies.ts';
import { sendTransaction } from './send.ts';
import { sendFinalPage } from './send-final-page.ts';

/** GET /consents/{txid}: the representation; a browser is led to the next task, or sees where it stands. */
export function getTransactionHandler(dependencies: Dependencies): Handler {
  const { db, tokens, instance } = dependencies;
  return async (ctx, { params, principal, mode }) => {
    const read = await readTransactionWithReceipt(db, params.txid ?? '');
    if (!read) throw noSuchTransaction();
    requireAccess(principal, read, 'result');
    if (mode === 'json') return sendTransaction(ctx, dependencies, read, { principal });
    if (stateAt(read.transaction, read.now) !== 'CREATED')
      return sendFinalPage(ctx, dependencies, read, principal);
    const { submit } = linksOf(instance.baseUrl, read.transaction.id);
    const url = withToken(submit, mintToken(tokens, read, principal));
    ctx.status = 303;
    ctx.set('Location', keepColorScheme(url, ctx.query.colorScheme));
  };
}
