import { v5 } from 'uuid';
import { recordAction } from '#lib/audit/record-action.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Failure, fail, invalidMember } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { addressFault, type PeerReply, peerUnavailable } from '../client/peer-client.ts';
import { type PeerDescription, readDescription, signingKids } from '../domain/description.ts';
import { type ListedPeer, type Peer, readPeerAddress } from '../domain/peer.ts';
import { scheduleFullRead } from '../queries/catalogues.ts';
import { bindDeliveries } from '../queries/deliveries.ts';
import { pinKeys } from '../queries/peer-keys.ts';
import { findPeer, savePairedPeer } from '../queries/peers.ts';
import { storeNoteKeys } from '../queries/witnessed-heads.ts';
import type { Dependencies } from './dependencies.ts';

/** The peer's address, and the one-time key that its administrator made. */
type Invitation = components['schemas']['PeerInput'];

/**
 * Pairs with another instance (docs/federation.md, "Pairing"): fetches its self-description, sends ours with
 * the one-time key and pins its keys. Idempotent: a repeated call completes a pairing whose reply was lost.
 * @throws Failure `invalid`, `unavailable`.
 */
export async function pair(
  dependencies: Dependencies,
  invitation: Invitation,
): Promise<{ peer: ListedPeer; isNew: boolean }> {
  const url = readInvitation(dependencies, invitation);
  const published = await dependencies.client.describe(url);
  const { apiKey } = invitation;
  // The same call has the same id, so that it completes a pairing whose reply was lost.
  const pairing = v5(`${dependencies.baseUrl} ${url} ${apiKey}`, v5.URL);
  const introduction = { pairing, apiKey, description: dependencies.ownDescription() };
  const body = Buffer.from(JSON.stringify(introduction));
  const reply = await dependencies.client.send({ method: 'POST', url, path: '/federation/pairing', body });
  const confirmed = readReply(reply, { url, ownKids: dependencies.ownKids });
  if (confirmed.signedBy !== published.signedBy)
    throw addressFault('The instance at this address used two different keys.');
  const { id, isNew } = await dependencies.db.withTransaction((tx) =>
    savePeer(tx, dependencies, { action: 'peer.paired', description: confirmed }),
  );
  await dependencies.afterPairingChange();
  const peer = await findPeer(dependencies.db, id);
  if (!peer) throw fail('unavailable', 'The pairing was ended during this request. Try again.');
  return { peer, isNew };
}

function readInvitation(dependencies: Dependencies, { url, withCounterPart }: Invitation): string {
  if (withCounterPart === false)
    throw invalidMember('A pairing is always mutual.', '/withCounterPart', 'Omit it or set it to true.');
  const read = readPeerAddress(url, { own: dependencies.baseUrl, plainLoopback: dependencies.plainLoopback });
  if ('fault' in read) throw addressFault(read.fault);
  return read.origin;
}

function readReply(
  { status, content }: PeerReply,
  { url, ownKids }: { url: string; ownKids: ReadonlySet<string> },
): PeerDescription {
  if (status !== 200) throw failureOf(status, content);
  const { description = '' } = (content ?? {}) as { description?: unknown };
  const read = readDescription(String(description), { url, now: new Date(), ownKids });
  if ('fault' in read) throw addressFault('The instance at this address sent an invalid reply.');
  return read.description;
}

/** Translates the peer's problem document: faults of the key are the administrator's to fix. */
function failureOf(status: number, content: unknown): Failure {
  const said = (content as { errors?: { code?: unknown }[] } | undefined)?.errors?.[0]?.code;
  const details: Record<string, string> = {
    unknown: 'The peer does not know this key. Check that it is complete.',
    'not-for-pairing':
      'This key has the scope OWNER. Ask the peer for a key of scope PEER, and to revoke this one.',
    used: 'This key was used before or has expired. Ask the peer for a new one.',
  };
  const detail = typeof said === 'string' ? details[said] : undefined;
  if (detail)
    return fail('invalid', 'The peer rejected the key.', {
      errors: [{ pointer: '/apiKey', code: said as string, detail }],
    });
  if (status >= 500 || status === 429) return peerUnavailable('The peer cannot pair at the moment.');
  return addressFault(`The instance at this address refused to pair (${status}).`);
}

/** How a pairing begins or ends. */
interface PairingChange {
  action: 'peer.paired' | 'peer.accepted' | 'peer.removed';
  /** Who acts, if it is not the caller. */
  by?: string;
  /** Delay of the first read of the peer's catalogue: the peer may not have pinned our keys yet. */
  readInSeconds?: number;
}

/**
 * Creates or renews the peer of a description and pins its keys. Two kinds of deliveries are then bound to
 * the new keys: those that were bound to the key that signed the description, and those that were queued
 * after the end of the pairing.
 */
export async function savePeer(
  tx: Queries,
  { baseUrl }: { baseUrl: string },
  {
    description: { instance, name, keys, choices, notes, signedBy },
    ...change
  }: PairingChange & { description: PeerDescription },
): Promise<{ id: string; isNew: boolean }> {
  const { id, version, isNew } = await savePairedPeer(tx, {
    id: newUuid(),
    url: instance,
    name,
    choices,
  });
  await pinKeys(tx, id, keys);
  await storeNoteKeys(tx, id, notes);
  await bindDeliveries(tx, instance, { from: [signedBy], to: signingKids(keys) });
  await publishPeer(tx, baseUrl, { ...change, id, url: instance, version });
  return { id, isNew };
}

/**
 * Writes the line of the audit log and the event, and schedules a read of the peer's catalogue, or the
 * deletion of our copy of it.
 */
export async function publishPeer(
  tx: Queries,
  baseUrl: string,
  { action, by, readInSeconds = 0, id, url, version }: PairingChange & Pick<Peer, 'id' | 'url' | 'version'>,
): Promise<void> {
  await recordAction(tx, { action, target: `peer/${id}` }, by);
  await scheduleFullRead(tx, url, readInSeconds);
  const type = `io.accord.peer.${action === 'peer.removed' ? 'removed' : 'added'}.v1` as const;
  await addToOutbox(tx, 'accord.peers', { type, source: baseUrl, subject: id, data: { peer: id, version } });
}
