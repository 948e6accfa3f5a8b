import type { Queries } from '#lib/db/database.ts';
import type { Peer } from '../domain/peer.ts';
import { type PeerKey, signingKids } from '../domain/read-description.ts';
import { wantCatalogue } from '../queries/catalogues.ts';
import { followKeys } from '../queries/deliveries.ts';

/**
 * A peer's new keys have been vouched for: what waits for the peer goes to them, and its catalogue is read anew, because the key that answers
 * are sealed to goes to forms with it.
 * @param peer as it was before.
 */
export async function followNewKeys(tx: Queries, peer: Peer, keys: readonly PeerKey[]): Promise<void> {
  const kids = signingKids(keys);
  if (kids.every((kid) => peer.thumbprints.includes(kid))) return;
  await followKeys(tx, peer.url, { from: peer.thumbprints, to: kids });
  await wantCatalogue(tx, peer.url);
}
