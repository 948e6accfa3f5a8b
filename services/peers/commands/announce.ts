import type { Queries } from '#lib/db/database.ts';
import { addToOutbox } from '#lib/events/outbox.ts';

interface Change {
  baseUrl: string;
  id: string;
  version: number;
}

/** Tells that a peer was paired with, or again. */
export function tellPeerAdded(tx: Queries, { baseUrl, id, version }: Change): Promise<void> {
  return addToOutbox(tx, 'accord.peers', {
    type: 'io.accord.peer.added.v1',
    source: baseUrl,
    subject: id,
    data: { peer: id, version },
  });
}

/** Tells that a pairing has ended, whoever ended it. */
export function tellPeerRemoved(tx: Queries, { baseUrl, id, version }: Change): Promise<void> {
  return addToOutbox(tx, 'accord.peers', {
    type: 'io.accord.peer.removed.v1',
    source: baseUrl,
    subject: id,
    data: { peer: id, version },
  });
}
