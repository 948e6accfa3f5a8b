import { readCursor, readLimit, writeCursor } from '#lib/http/cursor.ts';
import type { Handler } from '#lib/http/operation.ts';
import { presentAll } from '../presenters/present-transaction.ts';
import { readFollowers } from '../queries/followers.ts';
import { listTransactions } from '../queries/list-transactions.ts';
import type { Dependencies } from './dependencies.ts';
import { readTransactionFilter } from './read-filters.ts';

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
