import type { Context } from 'koa';
import { type Authenticator, transactionToken, unauthorized } from '#lib/auth/authenticate.ts';
import { anonymous, type Principal } from '#lib/contracts/principal.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import type { TransactionTokens } from '../transaction/links.ts';
import type { ChoicesSessions } from './choices-session.ts';

/**
 * Authenticates callers of operations that accept tokens: of transactions, and of sessions of choices, which
 * may also be in a cookie. A valid credential takes precedence over `t`; an invalid Authorization beside a
 * valid `t` is ignored (docs/interface.md, "Credentials").
 * @param onRefused counts a token that is not valid. The authenticator has counted a bad Authorization.
 */
export function createSubjectAuthentication({
  authenticator,
  tokens,
  sessions,
  onRefused,
}: {
  authenticator: Authenticator;
  tokens: TransactionTokens;
  sessions: Pick<ChoicesSessions, 'ofToken' | 'ofCookie'>;
  onRefused: (ctx: Context) => Promise<void>;
}): (ctx: Context, operation: Pick<ContractOperation, 'x-roles' | 'parameters'>) => Promise<Principal> {
  return async (ctx, operation) => {
    const caller = await authenticator.identify(ctx);
    if (caller.kind === 'principal') return caller.principal;
    const token = transactionToken(ctx);
    const known = token === undefined ? undefined : await ofToken(token);
    if (known !== undefined) return known;
    const isBad = caller.kind === 'bad-authorization';
    // Not a JWT: the operation reads a token of its own, such as that of an address that ends messages.
    const isOther = token?.split('.').length === 2;
    const readsToken = !isBad && isOther && operation.parameters?.some(({ name }) => name === 't');
    if (token !== undefined && !readsToken) {
      if (!isBad) await onRefused(ctx);
      throw unauthorized('The transaction token is not valid.');
    }
    if (isBad) throw unauthorized('The Authorization header is not valid.');
    const person = operation['x-roles'].choices ? await sessions.ofCookie(ctx) : undefined;
    return person ?? anonymous;
  };

  /** @returns undefined for a text that is no valid token; nobody for a session that has ended. */
  async function ofToken(token: string): Promise<Principal | undefined> {
    const claims = await tokens.verify(token);
    if (!claims) {
      const person = await sessions.ofToken(token);
      return person === null ? anonymous : person;
    }
    return {
      roles: ['transaction'],
      name: claims.id,
      account: `transaction:${claims.id}`,
      transaction: claims,
    };
  }
}
