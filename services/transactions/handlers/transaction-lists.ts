import { readCursor, readLimit, writeCursor } from '#lib/http/lists.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { presentAll } from '../presenters/transaction.ts';
import { readFollowers } from '../queries/parts.ts';
import { countTransactions, listTransactions } from '../queries/transactions.ts';
import { readTransactionFilter } from './filters.ts';
import type { Dependencies } from './handlers.ts';

const idPattern = /^[1-9A-HJ-NP-Za-km-z]{22}$/;

/** GET /transactions */
export function listTransactionsHandler({ db, instance }: Dependencies): Handler {
  return async (ctx, { query, principal }) => {
    const limit = readLimit(query.limit);
    const after = readCursor(query.cursor, idPattern);
    const found = await listTransactions(db, readTransactionFilter(query), { after, limit: limit + 1 });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    const next =
      found.length > limit && last
        ? writeCursor({ createdAt: last.position, id: last.transaction.id })
        : undefined;
    const followers = await readFollowers(
      db,
      page.map(({ transaction }) => transaction),
    );
    ctx.body = { values: presentAll(page, principal, instance.baseUrl, followers), next };
  };
}

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
