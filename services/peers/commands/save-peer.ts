import type { Queries } from '#lib/db/database.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import type { PeerDescription } from '../domain/read-description.ts';
import { wantCatalogue } from '../queries/catalogues.ts';
import { pinKeys, savePairedPeer } from '../queries/peers.ts';
import { tellPeerAdded } from './announce.ts';

/**
 * Makes or renews the peer of a description, pins its keys, and has its catalogue read.
 * @param readInSeconds when its catalogue may be read: who is being answered has not pinned our keys yet.
 */
export async function savePeer(
  tx: Queries,
  { baseUrl }: { baseUrl: string },
  { instance, name, keys }: PeerDescription,
  readInSeconds = 0,
): Promise<{ id: string; isNew: boolean }> {
  const { id, version, isNew } = await savePairedPeer(tx, { id: newUuid(), url: instance, name });
  await pinKeys(tx, id, keys);
  await wantCatalogue(tx, instance, readInSeconds);
  await tellPeerAdded(tx, { baseUrl, id, version });
  return { id, isNew };
}
