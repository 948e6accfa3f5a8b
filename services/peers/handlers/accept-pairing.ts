import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { fail } from '#lib/errors/fail.ts';
import type { OperationInput } from '#lib/http/operation.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { acceptPairing } from '../commands/accept-pairing.ts';
import { peerToken } from './authenticate.ts';
import type { Dependencies } from './dependencies.ts';

/** POST /federation/pairing: another instance introduces itself with a one-time key. */
export function acceptPairingHandler(
  dependencies: Dependencies,
  limiter: Pick<RateLimiter, 'countRefusal' | 'forgetRefusal'>,
) {
  return async (ctx: Context, { body }: OperationInput<components['schemas']['Introduction']>) => {
    const token = peerToken(ctx);
    if (token === undefined)
      throw fail('unauthorized', 'The request must be signed.', { headers: { 'WWW-Authenticate': 'Peer' } });
    const request = {
      method: ctx.method,
      url: `${dependencies.baseUrl}${ctx.url}`,
      body: async () => ctx.state.rawBody as Buffer,
    };
    // A key can be guessed: counted before it is tried.
    await limiter.countRefusal(ctx);
    ctx.body = await acceptPairing(dependencies, body, { token, request, now: new Date() });
    await limiter.forgetRefusal(ctx);
  };
}
