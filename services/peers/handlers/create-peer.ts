import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { OperationInput } from '#lib/http/operation.ts';
import { pair } from '../commands/pair.ts';
import { presentPeer } from '../presenters/present-peer.ts';
import type { Dependencies } from './dependencies.ts';

/** POST /peers: 201 for a new peer, 200 if it was paired with before. */
export function createPeerHandler(dependencies: Dependencies) {
  return async (ctx: Context, { body }: OperationInput<components['schemas']['NewPeer']>) => {
    const { peer, isNew } = await pair(dependencies, body);
    ctx.status = isNew ? 201 : 200;
    ctx.set('Location', `${dependencies.baseUrl}/peers/${peer.id}`);
    ctx.body = presentPeer(peer);
  };
}
