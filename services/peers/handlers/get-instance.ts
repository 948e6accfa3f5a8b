import type { JWK } from 'jose';
import Negotiator from 'negotiator';
import type { Handler } from '#lib/http/operation.ts';
import { type SelfDescription, signDescription } from '../domain/self-description.ts';

/** GET /.well-known/accord: JSON {…, jws} by default, the compact JWS for application/jose; only the JWS counts (docs/interface.md). */
export function getInstanceHandler({
  description,
  signingKey,
}: {
  description: SelfDescription;
  signingKey: JWK;
}): Handler {
  return async (ctx) => {
    const jws = await signDescription(description, signingKey);
    const accept = ctx.get('accept') || '*/*';
    ctx.set({ Vary: 'Accept', 'Cache-Control': 'public, max-age=60' });
    if (
      new Negotiator({ headers: { accept } }).mediaType(['application/json', 'application/jose']) ===
      'application/jose'
    ) {
      ctx.type = 'application/jose';
      ctx.body = jws;
      return;
    }
    ctx.body = { ...description, jws };
  };
}
