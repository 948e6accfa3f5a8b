import type { Handler } from '#lib/http/operation.ts';
import { noSuchTransaction } from '../domain/access.ts';
import { presentContext } from '../presenters/present-transaction.ts';
import { readTransaction } from '../queries/read-transaction.ts';
import type { Dependencies } from './dependencies.ts';

/** GET /consents/{txid}/context */
export function getContextHandler({ db }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const read = await readTransaction(db, params.txid ?? '');
    if (!read) throw noSuchTransaction();
    ctx.body = presentContext(read);
  };
}
