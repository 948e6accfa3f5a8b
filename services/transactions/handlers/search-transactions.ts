import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { presentAll } from '../presenters/present-transaction.ts';
import { readFollowers } from '../queries/followers.ts';
import { countTransactions, listTransactions } from '../queries/list-transactions.ts';
import type { Dependencies } from './dependencies.ts';
import { readTransactionFilter } from './read-filters.ts';

const defaultSize = 50;
const maxSize = 200;

/** POST /transactions: the same list by pages that start at 0 (docs/interface.md, "Lists"). */
export function searchTransactionsHandler({ db, instance }: Dependencies): Handler {
  return async (ctx, { body, principal }: OperationInput<Record<string, unknown> | undefined>) => {
    const filter = readTransactionFilter(body ?? {});
    const page = Math.max(0, Number(body?.page ?? 0));
    const pageSize = Math.min(maxSize, Math.max(1, Number(body?.size ?? defaultSize)));
    const [values, totalCount] = await Promise.all([
      listTransactions(db, filter, { limit: pageSize, offset: page * pageSize }),
      countTransactions(db, filter),
    ]);
    const followers = await readFollowers(
      db,
      values.map(({ transaction }) => transaction),
    );
    ctx.body = {
      values: presentAll(values, principal, instance.baseUrl, followers),
      page,
      pageSize,
      totalPages: Math.ceil(totalCount / pageSize),
      totalCount,
    };
  };
}
