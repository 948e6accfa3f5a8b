import type { Context } from 'koa';
import { type Authenticator, transactionToken, unauthorized } from '#lib/auth/authenticate.ts';
import { anonymous, type Principal } from '#lib/contracts/principal.ts';
import type { TransactionTokens } from '../domain/transaction-token.ts';

/**
 * Who asks, where transaction tokens are good. A caller's credential beside `t` wins and `t` is not even looked at; a bad
 * Authorization beside a good `t` is passed over; `t` alone and bad is a 401 (docs/interface.md, "Transactions").
 * @param onRefused counts failed credentials of an address; may throw `too-many-requests`.
 */
export function createSubjectAuthentication({
  authenticator,
  tokens,
  onRefused,
}: {
  authenticator: Authenticator;
  tokens: TransactionTokens;
  onRefused: (ctx: Context) => Promise<void>;
}): (ctx: Context) => Promise<Principal> {
  return async (ctx) => {
    const caller = await authenticator.identify(ctx);
    if (caller.kind === 'principal') return caller.principal;
    const token = transactionToken(ctx);
    if (token === undefined) {
      if (caller.kind === 'bad-authorization') throw unauthorized('The Authorization header is not valid.');
      return anonymous;
    }
    const claims = await tokens.verify(token);
    if (!claims) {
      if (caller.kind !== 'bad-authorization') await onRefused(ctx);
      throw unauthorized('The transaction token is not valid.');
    }
    return {
      roles: ['transaction'],
      name: claims.id,
      account: `transaction:${claims.id}`,
      transaction: claims,
    };
  };
}
