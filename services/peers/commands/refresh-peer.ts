import type { Peer } from '../domain/peer.ts';
import { describePeer, quarantinePeer } from '../queries/key-changes.ts';
import { lockPeer, pinKeys, touchPeer } from '../queries/peers.ts';
import type { Parts } from './dependencies.ts';
import { followNewKeys } from './follow-new-keys.ts';

/**
 * Asks a peer what it says of itself now. Keys that a pinned key vouches for are pinned; others put the peer into quarantine until
 * an administrator confirms them (federation.md, "Trust").
 * @throws Failure when it cannot be asked.
 */
export async function refreshPeer(parts: Pick<Parts, 'db' | 'client' | 'log'>, peer: Peer): Promise<void> {
  const { description } = await parts.client.describe(peer.url);
  await parts.db.withTransaction(async (tx) => {
    const current = await lockPeer(tx, peer.id);
    if (!current || current.state === 'ENDED') return;
    if (!current.thumbprints.includes(description.signedBy)) {
      parts.log.error('a peer shows keys that none of its known keys vouches for', { id: peer.id });
      return quarantinePeer(tx, peer.id, description.keys);
    }
    await pinKeys(tx, peer.id, description.keys);
    await followNewKeys(tx, current, description.keys);
    if (current.state === 'QUARANTINED' || current.name !== description.name)
      await describePeer(tx, peer.id, description.name);
  });
  await touchPeer(parts.db, peer.id);
}
