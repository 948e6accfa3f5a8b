import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { CataloguePeer, PeerEntry } from '#lib/contracts/peer-entries.ts';
import { fail } from '#lib/errors/fail.ts';
import {
  type PeerVersion,
  type PeerVersionHead,
  readPeerContent,
  readPeerHead,
} from '../domain/peer-entry.ts';
import { readSharedEntries, readSharedState } from '../queries/active-entries.ts';
import {
  boundEntries,
  markSeen,
  readKnownVersions,
  receivePeer,
  rememberSerials,
  storeVersion,
} from '../queries/store-peers.ts';
import type { FormsContext } from './context.ts';

/** The internal operation `sharedEntries`: a page of the entries that are shared with a peer. */
export function createSharedEntries({ db }: FormsContext): FormsOperations['sharedEntries'] {
  return async ({ peer, after, known, limit }) => {
    // Read the state first: a change between the two reads then gives another state at the next request.
    const state = await readSharedState(db, peer);
    if (state === known) return { state, entries: [], more: false };
    const found = await readSharedEntries(db, { peer, after, limit: limit + 1 });
    return { state, entries: found.slice(0, limit), more: found.length > limit };
  };
}

/** Received entries by the work that each needs. */
interface Sorted {
  known: PeerVersionHead[];
  fresh: PeerVersion[];
  refused: string[];
}

/**
 * The internal operation `storePeerEntries`. Contents are checked and sanitised as our own are
 * (docs/federation.md, "How the copy is kept").
 * @throws Failure `exists` if another peer has the host.
 */
export function createStorePeerEntries({ db, log }: FormsContext): FormsOperations['storePeerEntries'] {
  return async ({ peer, state, entries }) => {
    const { known, fresh, refused } = await sort(peer, entries);
    const named = (key: string) => ({ id: `${key}@${new URL(peer.url).host}` });
    for (const key of refused) log.warn('entry of a peer is not valid and is not stored', named(key));
    const changed = await db.withTransaction(async (tx) => {
      if (!(await receivePeer(tx, peer, state)))
        throw fail(
          'exists',
          "Another peer has the same host, so references to this peer's elements would be ambiguous.",
        );
      const copy = { peer: peer.url, state };
      const changedKeys = await rememberSerials(tx, peer.url, [...known, ...fresh]);
      const isUnchanged = ({ key }: PeerVersionHead) => !changedKeys.has(key);
      if (known.length > 0) await markSeen(tx, copy, known.filter(isUnchanged));
      for (const version of fresh.filter(isUnchanged)) await storeVersion(tx, copy, version);
      if (fresh.length > 0) await boundEntries(tx, peer.url);
      return [...changedKeys];
    });
    for (const key of changed)
      log.warn('entry of a peer changed its content without a new serial and is not stored', named(key));
    return { refused: [...refused, ...changed] };
  };

  async function sort(peer: CataloguePeer, entries: readonly PeerEntry[]): Promise<Sorted> {
    const sorted: Sorted = { known: [], fresh: [], refused: [] };
    const heads = new Map<string, { head: PeerVersionHead; entry: PeerEntry }>();
    for (const entry of entries) {
      const head = readPeerHead(entry);
      // Only the first entry with a key is valid.
      if (!head || heads.has(head.key)) sorted.refused.push(String(entry.key).slice(0, 255));
      else heads.set(head.key, { head, entry });
    }
    const all = Array.from(heads.values(), ({ head }) => head);
    const stored = await readKnownVersions(db, peer.url, all);
    for (const { head, entry } of heads.values()) {
      if (stored.has(head.key)) {
        sorted.known.push(head);
        continue;
      }
      const content = await readPeerContent(head, entry);
      if (content) sorted.fresh.push({ ...head, ...content });
      else sorted.refused.push(head.key);
    }
    return sorted;
  }
}
