import { isDeepStrictEqual } from 'node:util';
import { recordAction } from '#lib/audit/record-action.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { fail, invalidMember } from '#lib/errors/fail.ts';
import { boundedNfc } from '#lib/text/nfc.ts';
import { signingKids } from '../domain/description.ts';
import type { ListedPeer } from '../domain/peer.ts';
import { findPeer, lockPeer, recordComparison, updatePeer } from '../queries/peers.ts';
import { forgetWitnessing } from '../queries/witnessed-heads.ts';
import type { Dependencies } from './dependencies.ts';
import { acceptKeys } from './refresh-keys.ts';

const maxPrefixLength = 100;

/**
 * Changes the settings of a peer. Thumbprints that were compared through another channel are recorded, and
 * end a quarantine: those of its new keys, which are then pinned, or those of its pinned keys, if the peer
 * has these again.
 * @throws Failure `not-found`, `invalid`.
 */
export async function editPeer(
  { db }: Pick<Dependencies, 'db'>,
  id: string,
  { subjectPrefix, notification, erasure, witness, thumbprints }: components['schemas']['PeerChanges'],
): Promise<ListedPeer> {
  return db.withTransaction(async (tx) => {
    const peer = await lockPeer(tx, id);
    if (!peer) throw fail('not-found', 'Peer not found.');
    let changed = { ...peer, erasure: erasure ?? peer.erasure, witness: witness ?? peer.witness };
    if (subjectPrefix !== undefined) changed.subjectPrefix = readPrefix(subjectPrefix);
    if (notification !== undefined) changed.notification = readNotification(notification);
    if (!isDeepStrictEqual(changed, peer))
      await recordAction(tx, { action: 'peer.updated', target: `peer/${id}` });
    const arePinned = thumbprints !== undefined && sameSet(thumbprints, peer.thumbprints);
    if (thumbprints !== undefined && !arePinned) {
      const keys = peer.announced;
      if (!keys || !sameSet(thumbprints, signingKids(keys)))
        throw invalidMember(
          'The thumbprints match neither the keys that wait for confirmation nor the pinned keys.',
          '/thumbprints',
          'Send all of announcedThumbprints, or all of thumbprints.',
        );
      await acceptKeys(tx, peer, keys);
    }
    // After the end of a pairing no keys are pinned.
    if (thumbprints?.length) {
      if (peer.state === 'QUARANTINED') changed = { ...changed, state: 'PAIRED', announced: null };
      await recordComparison(tx, id);
      await recordAction(tx, { action: 'peer.confirmed', target: `peer/${id}` });
    }
    if (peer.witness && !changed.witness) await forgetWitnessing(tx, peer.url);
    if (!isDeepStrictEqual(changed, peer)) await updatePeer(tx, changed);
    return (await findPeer(tx, id)) as ListedPeer;
  });
}

function readPrefix(prefix: string): string {
  // Subjects are trimmed and must start with their prefix.
  const read = boundedNfc(prefix.trimStart(), maxPrefixLength);
  if (read !== undefined && !/\p{Cc}/u.test(read)) return read;
  const fault = `Use at most ${maxPrefixLength} printable characters.`;
  throw invalidMember('The prefix is not valid.', '/subjectPrefix', fault);
}

/** Checks only the syntax. The models are in forms; for an unknown key subjects get the built-in text. */
function readNotification(key: string): string | null {
  if (/^([0-9A-Za-z_.-]{2,255})?$/.test(key)) return key || null;
  throw invalidMember('The notification is not valid.', '/notification', 'Use the key or id of an email.');
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each) => other.includes(each));
}
