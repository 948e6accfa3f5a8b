import type { Handler } from '#lib/http/operation.ts';
import { hurryCatalogue } from '../queries/catalogues.ts';
import { type Dependencies, peerIdOf } from './dependencies.ts';

/** POST /federation/ping: what the peer shares has changed. */
export function announceChangeHandler({ db, wake }: Dependencies): Handler {
  return async (ctx, { principal }) => {
    await hurryCatalogue(db, peerIdOf(principal.account));
    wake();
    ctx.status = 204;
  };
}
