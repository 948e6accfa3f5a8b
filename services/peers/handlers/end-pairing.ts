import type { Handler } from '#lib/http/operation.ts';
import { acceptEnd } from '../commands/end-pairing.ts';
import { type Dependencies, peerIdOf } from './dependencies.ts';

/** DELETE /federation/pairing: the partner has ended the pairing. */
export function endPairingHandler(dependencies: Dependencies): Handler {
  return async (ctx, { principal }) => {
    await acceptEnd(dependencies, peerIdOf(principal.account));
    ctx.status = 204;
  };
}
