import { fail } from '#lib/errors/fail.ts';
import { uuidPattern } from '#lib/http/lists.ts';
import type { Handler } from '#lib/http/operation.ts';
import { presentPeer } from '../presenters/present-peer.ts';
import { findPeer } from '../queries/peers.ts';
import type { Dependencies } from './dependencies.ts';

/** GET /peers/{id} */
export function getPeerHandler({ db }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const id = readPeerId(params.id);
    const peer = await findPeer(db, id);
    if (!peer) throw noSuchPeer();
    ctx.body = presentPeer(peer);
  };
}

/** @throws Failure `not-found` for what is no id. */
export function readPeerId(id = ''): string {
  if (!uuidPattern.test(id)) throw noSuchPeer();
  return id;
}

function noSuchPeer() {
  return fail('not-found', 'There is no such peer.');
}
