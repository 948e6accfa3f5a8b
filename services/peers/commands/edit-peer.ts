import { fail } from '#lib/errors/fail.ts';
import { boundedNfc } from '#lib/text/nfc.ts';
import type { ListedPeer } from '../domain/peer.ts';
import { announcedKeys, describePeer } from '../queries/key-changes.ts';
import { findPeer, lockPeer, pinKeys, setSubjectPrefix } from '../queries/peers.ts';
import type { Parts } from './dependencies.ts';
import { followNewKeys } from './follow-new-keys.ts';

const longestPrefix = 100;

/** What an administrator may change. */
export interface PeerChanges {
  subjectPrefix?: string;
  /** The announced thumbprints, as the partner's administrator confirmed them: ends the quarantine. */
  thumbprints?: string[];
}

/** @throws Failure `not-found`, `invalid`, `wrong-state`. */
export async function editPeer(
  { db }: Pick<Parts, 'db'>,
  id: string,
  { subjectPrefix, thumbprints }: PeerChanges,
): Promise<ListedPeer> {
  return db.withTransaction(async (tx) => {
    const peer = await lockPeer(tx, id);
    if (!peer) throw fail('not-found', 'There is no such peer.');
    if (subjectPrefix !== undefined) await setSubjectPrefix(tx, id, readPrefix(subjectPrefix));
    if (thumbprints !== undefined && !sameSet(thumbprints, peer.thumbprints)) {
      const keys = await announcedKeys(tx, id);
      if (!keys || !sameSet(thumbprints, peer.announced ?? []))
        throw fail('invalid', 'These keys are not the ones that wait for confirmation.', {
          errors: [
            {
              pointer: '/thumbprints',
              code: 'invalid',
              detail: 'List the thumbprints in announcedThumbprints, all of them.',
            },
          ],
        });
      await pinKeys(tx, id, keys);
      await followNewKeys(tx, peer, keys);
      await describePeer(tx, id, peer.name);
    }
    return (await findPeer(tx, id)) as ListedPeer;
  });
}

function readPrefix(prefix: string): string {
  // Without white space before it, because subjects are trimmed and must begin with their prefix.
  const read = boundedNfc(prefix.trimStart(), longestPrefix);
  if (read !== undefined && !/\p{Cc}/u.test(read)) return read;
  throw fail('invalid', 'The prefix cannot be used.', {
    errors: [
      {
        pointer: '/subjectPrefix',
        code: 'invalid',
        detail: `A prefix has at most ${longestPrefix} characters, all of them printable.`,
      },
    ],
  });
}

function sameSet(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((each) => other.includes(each));
}
