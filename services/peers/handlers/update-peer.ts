import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { OperationInput } from '#lib/http/operation.ts';
import { editPeer } from '../commands/edit-peer.ts';
import { presentPeer } from '../presenters/present-peer.ts';
import type { Dependencies } from './dependencies.ts';
import { readPeerId } from './get-peer.ts';

/** PUT /peers/{id}: its prefix for subjects, and the confirmation of new keys. */
export function updatePeerHandler({ db }: Dependencies) {
  return async (ctx: Context, { params, body }: OperationInput<components['schemas']['PeerChanges']>) => {
    ctx.body = presentPeer(await editPeer({ db }, readPeerId(params.id), body));
  };
}
