import type { Handler } from '#lib/http/operation.ts';
import { removePeer } from '../commands/end-pairing.ts';
import type { Dependencies } from './dependencies.ts';
import { readPeerId } from './get-peer.ts';

/** DELETE /peers/{id} */
export function deletePeerHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    await removePeer(dependencies, readPeerId(params.id));
    ctx.status = 204;
  };
}
