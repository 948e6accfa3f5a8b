import { createHash } from 'node:crypto';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { addressFault, type PeerReply } from '../client/peer-client.ts';
import type { ListedPeer } from '../domain/peer.ts';
import { readPeerAddress } from '../domain/peer-address.ts';
import { readDescription } from '../domain/read-description.ts';
import { findOrBeginPairing } from '../queries/pairings.ts';
import { findPeer } from '../queries/peers.ts';
import type { Parts } from './dependencies.ts';
import { savePeer } from './save-peer.ts';

/** What an administrator gives: the partner's address, and the one-time key that its administrator made. */
export interface Invitation {
  url: string;
  apiKey: string;
  withCounterPart?: boolean;
}

/**
 * Pairs with another instance: asks who it is, introduces this one with the one-time key, pins its keys (federation.md, "Trust").
 * The same call again is the same pairing: it completes one whose reply was lost.
 * @throws Failure `invalid`, `unavailable`.
 */
export async function pair(
  parts: Parts,
  invitation: Invitation,
): Promise<{ peer: ListedPeer; isNew: boolean }> {
  const url = readInvitation(parts, invitation);
  const { description } = await parts.client.describe(url);
  const pairing = await findOrBeginPairing(parts.db, {
    id: newUuid(),
    url,
    keyDigest: createHash('sha256').update(invitation.apiKey).digest(),
  });
  const reply = await parts.client.send({
    method: 'POST',
    url,
    path: '/federation/pairing',
    content: { pairing, apiKey: invitation.apiKey, description: await parts.ownDescription() },
  });
  const confirmed = await readReply(reply, { url, ownKids: parts.ownKids });
  if (confirmed.signedBy !== description.signedBy)
    throw addressFault('The instance at this address has shown two different keys.');
  const { id, isNew } = await parts.db.withTransaction((tx) => savePeer(tx, parts, confirmed));
  parts.wake();
  await parts.tellForms();
  const peer = await findPeer(parts.db, id);
  if (!peer) throw fail('unavailable', 'The pairing was ended meanwhile.');
  return { peer, isNew };
}

function readInvitation(parts: Parts, { url, withCounterPart }: Invitation): string {
  if (withCounterPart === false)
    throw fail('invalid', 'Instances pair with each other, or not at all.', {
      errors: [{ pointer: '/withCounterPart', code: 'invalid', detail: 'This must be true, or left out.' }],
    });
  const read = readPeerAddress(url, { own: parts.baseUrl, plainLoopback: parts.plainLoopback });
  if ('fault' in read) throw addressFault(read.fault);
  return read.origin;
}

async function readReply(
  { status, content }: PeerReply,
  { url, ownKids }: { url: string; ownKids: ReadonlySet<string> },
) {
  if (status !== 200) throw refusalOf(status, content);
  const { description } = (content ?? {}) as { description?: unknown };
  const read =
    typeof description === 'string'
      ? await readDescription(description, { url, now: new Date(), ownKids })
      : undefined;
  if (!read?.valid) throw addressFault('The instance at this address gave a reply that cannot be read.');
  return read.description;
}

/** What the partner says of the key is for the administrator to read; all else may pass. */
function refusalOf(status: number, content: unknown): Failure {
  const said = (content as { errors?: { code?: unknown }[] } | undefined)?.errors?.[0]?.code;
  const details: Record<string, string> = {
    unknown: 'The partner does not know this key.',
    'not-for-pairing':
      'This key is one of scope OWNER. Ask the partner for one of scope PEER, and to revoke this one.',
    used: 'This key was used before, or is too old. Ask the partner for a new one.',
  };
  const detail = typeof said === 'string' ? details[said] : undefined;
  if (detail)
    return fail('invalid', 'The partner does not accept the key.', {
      errors: [{ pointer: '/apiKey', code: said as string, detail }],
    });
  if (status >= 500 || status === 429)
    return fail(
      'unavailable',
      'The partner cannot pair at the moment. Nothing was changed; try again later.',
      {
        headers: { 'Retry-After': '30' },
      },
    );
  return addressFault(`The instance at this address refused to pair (${status}).`);
}
