import Negotiator from 'negotiator';
import type { OperationHandlers } from '#lib/http/operation.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import { acceptPairing } from '../commands/accept-pairing.ts';
import type { Dependencies } from '../commands/dependencies.ts';
import { acceptEnd } from '../commands/end-pairing.ts';
import type { SelfDescription } from '../domain/description.ts';
import { peerOf, peerToken, unauthorized } from './authenticate.ts';

/** /.well-known/accord, /.well-known/jwks.json and /federation/pairing (docs/federation.md, "Pairing"). */
export function pairingHandlers(
  dependencies: Dependencies,
  { describe, limiter }: { describe: () => SelfDescription; limiter: RateLimiter },
) {
  const signingKeys = { keys: describe().jwks.keys.filter(({ use }) => use === 'sig') };
  return {
    /** JSON with the JWS as a member by default; the bare JWS for application/jose. */
    async getInstance(ctx) {
      const jws = dependencies.ownDescription();
      ctx.set({ Vary: 'Accept', 'Cache-Control': 'public, max-age=60' });
      const headers = { accept: ctx.get('accept') || '*/*' };
      const type = new Negotiator({ headers }).mediaType(['application/json', 'application/jose']);
      if (type === 'application/jose') ctx.type = type;
      ctx.body = type === 'application/jose' ? jws : { ...describe(), jws };
    },

    /** For programs that verify receipts with a library for JOSE. */
    async getSigningKeys(ctx) {
      ctx.set({ Vary: 'Accept', 'Cache-Control': 'public, max-age=60' });
      const headers = { accept: ctx.get('accept') || '*/*' };
      const type = new Negotiator({ headers }).mediaType(['application/jwk-set+json', 'application/json']);
      ctx.type = type ?? 'application/json';
      ctx.body = JSON.stringify(signingKeys);
    },

    async acceptPairing(ctx, { body }) {
      const token = peerToken(ctx);
      if (token === undefined) throw unauthorized('The request must be signed.');
      const request = {
        method: ctx.method,
        url: `${dependencies.baseUrl}${ctx.url}`,
        body: async () => ctx.state.rawBody as Buffer,
      };
      // The request counts as a refusal until its key is accepted. This limits guesses of keys.
      await limiter.countRefusal(ctx);
      ctx.body = await acceptPairing(dependencies, body, { token, request });
      await limiter.forgetRefusal(ctx);
    },

    async endPairing(ctx) {
      await acceptEnd(dependencies, peerOf(ctx));
      ctx.status = 204;
    },
  } satisfies OperationHandlers;
}
