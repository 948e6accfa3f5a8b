import { thisInstance } from '#lib/audit/record-action.ts';
import { fail } from '#lib/errors/fail.ts';
import { pinKeys } from '../queries/peer-keys.ts';
import { deletePeer, findPeer, lockPeer, updatePeer } from '../queries/peers.ts';
import type { Dependencies } from './dependencies.ts';
import { publishPeer } from './pair.ts';

/** Ends a pairing from this side and tells the peer, without retries. @throws Failure `not-found`. */
export async function removePeer(dependencies: Dependencies, id: string): Promise<void> {
  const known = await findPeer(dependencies.db, id);
  // Pairing keys are spent before the removal: with an unused key, the peer could pair again by itself.
  if (known) await dependencies.auth.spendPairingKeys({ url: known.url });
  const peer = await dependencies.db.withTransaction(async (tx) => {
    const found = await lockPeer(tx, id);
    if (!found) throw fail('not-found', 'Peer not found.');
    await deletePeer(tx, id);
    const version = found.version + 1;
    await publishPeer(tx, dependencies.baseUrl, { ...found, version, action: 'peer.removed' });
    return found;
  });
  await dependencies.afterPairingChange();
  if (peer.state === 'ENDED') return;
  await dependencies.client
    .send({ method: 'DELETE', url: peer.url, path: '/federation/pairing' })
    .catch((error: unknown) =>
      dependencies.log.warn('failed to tell a peer that its pairing has ended; not retried', { id, error }),
    );
}

/** Ends a pairing that the peer has ended: unpins its keys. The peer stays listed for administrators. */
export async function acceptEnd(
  dependencies: Dependencies,
  { id, url }: { id: string; url: string },
): Promise<void> {
  await dependencies.auth.spendPairingKeys({ url });
  await dependencies.db.withTransaction(async (tx) => {
    const peer = await lockPeer(tx, id);
    if (!peer || peer.state === 'ENDED') return;
    await pinKeys(tx, id, []);
    await updatePeer(tx, { ...peer, state: 'ENDED', announced: null });
    const change = { action: 'peer.removed', by: thisInstance, version: peer.version + 1 } as const;
    await publishPeer(tx, dependencies.baseUrl, { ...peer, ...change });
  });
  await dependencies.afterPairingChange();
}
