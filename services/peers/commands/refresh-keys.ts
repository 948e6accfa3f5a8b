import { isDeepStrictEqual } from 'node:util';
import type { Queries } from '#lib/db/database.ts';
import { type PeerKey, signingKids } from '../domain/description.ts';
import type { Peer } from '../domain/peer.ts';
import { scheduleFullRead } from '../queries/catalogues.ts';
import { bindDeliveries } from '../queries/deliveries.ts';
import { claimDescription, pinKeys } from '../queries/peer-keys.ts';
import { lockPeer, touchPeer, updatePeer } from '../queries/peers.ts';
import { storeNoteKeys } from '../queries/witnessed-heads.ts';
import type { Dependencies, RefreshKeys } from './dependencies.ts';

type KeyDependencies = Pick<Dependencies, 'db' | 'client' | 'log'>;

/**
 * Fetches a known peer's keys because a message is signed with an unknown key, or to notice removed keys. The
 * rate is limited over all processes, so that strangers cannot make us send requests (docs/federation.md,
 * "Requests between peers").
 */
export function createKeyRefresher(dependencies: KeyDependencies): RefreshKeys {
  const { db, log } = dependencies;
  return async (url, minSeconds = 60) => {
    const id = await claimDescription(db, url, minSeconds);
    if (id === undefined) return false;
    try {
      await refreshPeer(dependencies, { id, url });
      return true;
    } catch (error) {
      log.warn('failed to fetch the self-description of a peer; its pinned keys stay', { id, error });
      return false;
    }
  };
}

/** Pins the keys of the current description if a pinned key signed it; otherwise quarantines the peer. */
async function refreshPeer(
  { db, client, log }: KeyDependencies,
  { id, url }: { id: string; url: string },
): Promise<void> {
  const description = await client.describe(url);
  await db.withTransaction(async (tx) => {
    const current = await lockPeer(tx, id);
    if (!current || current.state === 'ENDED') return;
    if (!current.thumbprints.includes(description.signedBy)) {
      log.error('peer quarantined: no pinned key vouches for its new keys; confirm the thumbprints', { id });
      if (isDeepStrictEqual(current.announced, description.keys)) return;
      return updatePeer(tx, { ...current, state: 'QUARANTINED', announced: description.keys });
    }
    await acceptKeys(tx, current, description.keys);
    await storeNoteKeys(tx, id, description.notes);
    const { name, choices } = description;
    const isRenamed = current.name !== name;
    if (current.state === 'QUARANTINED' || isRenamed || current.choices !== choices)
      await updatePeer(tx, { ...current, state: 'PAIRED', announced: null, name, choices });
    // The service forms gets the name with the catalogue, too.
    if (isRenamed) await scheduleFullRead(tx, url);
  });
  await touchPeer(db, url);
}

/**
 * Pins a peer's new keys. Waiting deliveries are bound to new signing keys. If keys are new, the catalogue is
 * read again, because the service forms gets the sealing key with it.
 * @param peer as it was before the change.
 */
export async function acceptKeys(tx: Queries, peer: Peer, keys: readonly PeerKey[]): Promise<void> {
  const formerSealing = await pinKeys(tx, peer.id, keys);
  const kids = signingKids(keys);
  const hasNewKids = kids.some((kid) => !peer.thumbprints.includes(kid));
  if (hasNewKids) await bindDeliveries(tx, peer.url, { from: peer.thumbprints, to: kids });
  const sealing = keys.find(({ use }) => use === 'enc')?.kid;
  if (hasNewKids || sealing !== formerSealing) await scheduleFullRead(tx, peer.url);
}
