import type { Context } from 'koa';
import { type Authenticator, transactionToken, unauthorized } from '#lib/auth/authenticate.ts';
import { anonymous, type Principal } from '#lib/contracts/principal.ts';
import type { TransactionTokens } from '../transaction/links.ts';

/**
 * Authenticates callers of operations that accept transaction tokens. A valid credential takes precedence
 * over `t`; an invalid Authorization beside a valid `t` is ignored (docs/interface.md, "Credentials").
 * @param onRefused counts a token that is not valid. The authenticator has counted a bad Authorization.
 */
export function createSubjectAuthentication(
  authenticator: Authenticator,
  tokens: TransactionTokens,
  onRefused: (ctx: Context) => Promise<void>,
): (ctx: Context) => Promise<Principal> {
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
