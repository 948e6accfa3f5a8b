import type { Principal } from '#lib/auth/principal.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import { createTransaction } from '../commands/create-transaction.ts';
import { readContext } from '../commands/read-context.ts';
import { linksOf, withToken } from '../domain/links.ts';
import type { Dependencies } from '../handlers/dependencies.ts';
import { mintToken } from '../presenters/present-transaction.ts';

/** The internal operations of this service (lib/contracts/transactions.ts): what other services ask it. */
export function createOperations({
  db,
  forms,
  tokens,
  instance,
  wake,
}: Dependencies): TransactionsOperations {
  return {
    async createTransaction({ context, author }) {
      const principal: Principal = { roles: ['operator'], name: author, account: `user:${author}` };
      const made = await createTransaction(
        { db, forms, source: instance.baseUrl, wake },
        readContext(context, principal),
        principal,
      );
      return {
        url: withToken(
          linksOf(instance.baseUrl, made.transaction.id).transaction,
          mintToken(tokens, made, principal),
        ),
      };
    },
  };
}
