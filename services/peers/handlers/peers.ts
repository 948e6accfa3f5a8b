import type { components } from '#lib/contracts/openapi.gen.ts';
import { fail } from '#lib/errors/fail.ts';
import { type PageRequest, sendList, uuidPattern } from '#lib/http/lists.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { failureCode } from '#lib/outbound/failure-code.ts';
import type { Dependencies } from '../commands/dependencies.ts';
import { editPeer } from '../commands/edit-peer.ts';
import { removePeer } from '../commands/end-pairing.ts';
import { pair } from '../commands/pair.ts';
import { signingKids } from '../domain/description.ts';
import type { ListedPeer } from '../domain/peer.ts';
import { findPeer, listPeers } from '../queries/peers.ts';

type Schemas = components['schemas'];

/** /peers: peers as administrators see them. */
export function peerHandlers(dependencies: Dependencies) {
  const { db, baseUrl } = dependencies;
  return {
    async listPeers(ctx, { query }) {
      const find = (page: PageRequest) => listPeers(db, page);
      await sendList(ctx, query, { url: `${baseUrl}/peers`, find, present: presentPeer });
    },

    /** 201 for a new peer, 200 if it was paired before. */
    async createPeer(ctx, { body }) {
      const { peer, isNew } = await pair(dependencies, body);
      ctx.status = isNew ? 201 : 200;
      ctx.set('Location', `${baseUrl}/peers/${peer.id}`);
      ctx.body = presentPeer(peer);
    },

    async getPeer(ctx, { params }) {
      const peer = await findPeer(db, readPeerId(params.id));
      if (!peer) throw peerNotFound();
      ctx.body = presentPeer(peer);
    },

    async updatePeer(ctx, { params, body }) {
      ctx.body = presentPeer(await editPeer(dependencies, readPeerId(params.id), body));
    },

    async deletePeer(ctx, { params }) {
      await removePeer(dependencies, readPeerId(params.id));
      ctx.status = 204;
    },
  } satisfies OperationHandlers;
}

/** @throws Failure `not-found` if the id is not a UUID. */
function readPeerId(id: string): string {
  if (!uuidPattern.test(id)) throw peerNotFound();
  return id;
}

function peerNotFound() {
  return fail('not-found', 'Peer not found.');
}

function presentPeer(peer: ListedPeer): Schemas['Peer'] {
  const { id, url, name, state, thumbprints, announced, subjectPrefix, notification, erasure, backlog } =
    peer;
  return {
    id,
    url,
    name,
    state,
    thumbprints,
    subjectPrefix,
    ...(notification === null ? {} : { notification }),
    erasure,
    witness: peer.witness,
    backlog,
    failures: peer.failures,
    ...(peer.nextAttemptAt ? { nextAttemptDate: peer.nextAttemptAt.getTime() } : {}),
    ...(peer.lastError === null
      ? {}
      : { lastError: peer.lastError, lastErrorCode: failureCode(peer.lastError) }),
    ...(peer.catalogueReadAt ? { catalogueReadDate: peer.catalogueReadAt.getTime() } : {}),
    ...(peer.catalogueSize === null ? {} : { catalogueSize: peer.catalogueSize }),
    ...(announced ? { announcedThumbprints: signingKids(announced) } : {}),
    creationDate: peer.createdAt.getTime(),
    modificationDate: peer.modifiedAt.getTime(),
    ...(peer.comparedAt ? { comparedDate: peer.comparedAt.getTime() } : {}),
    ...(peer.lastContactAt ? { lastContactDate: peer.lastContactAt.getTime() } : {}),
  };
}
