import type { Queries } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import { scheduleFullRead } from '../queries/catalogues.ts';
import { deletePeer, endPeer, findPeer, lockPeer } from '../queries/peers.ts';
import type { Dependencies } from './dependencies.ts';

/** Ends a pairing from this side and tells the peer, without retries. @throws Failure `not-found`. */
export async function removePeer(dependencies: Dependencies, id: string): Promise<void> {
  const known = await findPeer(dependencies.db, id);
  // Pairing keys are spent before the removal: with an unused key, the peer could pair again by itself.
  if (known) await dependencies.auth.spendPairingKeys({ url: known.url });
  const peer = await dependencies.db.withTransaction(async (tx) => {
    const found = await lockPeer(tx, id);
    if (!found) throw fail('not-found', 'Peer not found.');
    await deletePeer(tx, id);
    await publishRemoval(tx, dependencies.baseUrl, { id, url: found.url, version: found.version + 1 });
    return found;
  });
  dependencies.wake();
  await dependencies.updateForms();
  if (peer.state === 'ENDED') return;
  await dependencies.client
    .send({ method: 'DELETE', url: peer.url, path: '/federation/pairing' })
    .catch((error: unknown) =>
      dependencies.log.warn('failed to tell a peer that its pairing has ended; not retried', { id, error }),
    );
}

/** Ends a pairing that the peer has ended: unpins its keys. The peer stays listed for administrators. */
export async function acceptEnd(
  dependencies: Pick<Dependencies, 'db' | 'auth' | 'baseUrl' | 'wake'>,
  { id, url }: { id: string; url: string },
): Promise<void> {
  await dependencies.auth.spendPairingKeys({ url });
  await dependencies.db.withTransaction(async (tx) => {
    const peer = await lockPeer(tx, id);
    if (!peer || peer.state === 'ENDED') return;
    const version = await endPeer(tx, id);
    await publishRemoval(tx, dependencies.baseUrl, { id, url, version });
  });
  dependencies.wake();
}

/** Writes the event, and schedules the deletion of the copy of the peer's catalogue. */
async function publishRemoval(
  tx: Queries,
  baseUrl: string,
  { id, url, version }: { id: string; url: string; version: number },
): Promise<void> {
  await scheduleFullRead(tx, url);
  await addToOutbox(tx, 'accord.peers', {
    type: 'io.accord.peer.removed.v1',
    source: baseUrl,
    subject: id,
    data: { peer: id, version },
  });
}
