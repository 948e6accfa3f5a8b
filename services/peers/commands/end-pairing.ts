import { fail } from '#lib/errors/fail.ts';
import { wantCatalogue } from '../queries/catalogues.ts';
import { deletePeer, endPeer, findPeer, lockPeer } from '../queries/peers.ts';
import { tellPeerRemoved } from './announce.ts';
import type { Parts } from './dependencies.ts';

/** Ends a pairing from this side, and tells the partner if it can be reached. @throws Failure `not-found`. */
export async function removePeer(parts: Parts, id: string): Promise<void> {
  const known = await findPeer(parts.db, id);
  // First: a peer whose one-time key still works could pair again by itself.
  if (known) await parts.auth.spendPairingKeys({ url: known.url });
  const peer = await parts.db.withTransaction(async (tx) => {
    const found = await lockPeer(tx, id);
    if (!found) throw fail('not-found', 'There is no such peer.');
    await deletePeer(tx, id);
    // Without a peer it is forgotten.
    await wantCatalogue(tx, found.url);
    await tellPeerRemoved(tx, { baseUrl: parts.baseUrl, id, version: found.version + 1 });
    return found;
  });
  parts.wake();
  await parts.tellForms();
  if (peer.state === 'ENDED') return;
  await parts.client
    .send({ method: 'DELETE', url: peer.url, path: '/federation/pairing' })
    .catch((error: unknown) => parts.log.warn('a former peer could not be told', { error }));
}

/** The partner has ended the pairing: its keys are trusted no more, and the entry stays for an administrator to see. */
export async function acceptEnd(
  parts: Pick<Parts, 'db' | 'auth' | 'baseUrl' | 'wake'>,
  id: string,
): Promise<void> {
  const known = await findPeer(parts.db, id);
  if (known) await parts.auth.spendPairingKeys({ url: known.url });
  await parts.db.withTransaction(async (tx) => {
    const peer = await lockPeer(tx, id);
    if (!peer || peer.state === 'ENDED') return;
    const version = await endPeer(tx, id);
    await wantCatalogue(tx, peer.url);
    await tellPeerRemoved(tx, { baseUrl: parts.baseUrl, id, version });
  });
  parts.wake();
}
