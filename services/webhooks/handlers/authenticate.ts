import { type Authenticator, authenticateWithoutTransaction, unauthorized } from '#lib/auth/authenticate.ts';
import { anonymous } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { MountOptions } from '#lib/http/mount-contract.ts';

/**
 * Identifies people and API keys. The parameter `t` of an acknowledgement is the signature of its URL; in all
 * other operations it is a transaction token, which gives no access here.
 */
export function createWebhookAuthentication(authenticator: Authenticator): MountOptions['authenticate'] {
  return async (ctx, { operationId }) => {
    if (operationId !== 'acknowledgeDelivery') return authenticateWithoutTransaction(authenticator, ctx);
    const caller = await authenticator.identify(ctx);
    if (caller.kind === 'principal') return caller.principal;
    if (/^Transaction /i.test(ctx.get('authorization')))
      throw fail('forbidden', 'A transaction token only gives access to its own transaction.');
    if (caller.kind === 'bad-authorization') throw unauthorized('The Authorization header is not valid.');
    return anonymous;
  };
}
