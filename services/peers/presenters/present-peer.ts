import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ListedPeer } from '../domain/peer.ts';

/** A peer as administrators see it. */
export function presentPeer(peer: ListedPeer): components['schemas']['Peer'] {
  const { id, url, name, state, thumbprints, announced, subjectPrefix, backlog } = peer;
  return {
    ...{ id, url, name, state, thumbprints, subjectPrefix, backlog },
    ...(announced ? { announcedThumbprints: announced } : {}),
    creationDate: peer.createdAt.getTime(),
    modificationDate: peer.modifiedAt.getTime(),
    ...(peer.lastContactAt ? { lastContactDate: peer.lastContactAt.getTime() } : {}),
  };
}
