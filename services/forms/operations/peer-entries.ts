import type { CataloguePeer, FormsOperations, PeerEntry } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';
import {
  type PeerVersion,
  type PeerVersionHead,
  readPeerContent,
  readPeerHead,
} from '../domain/peer-entry.ts';
import { readSharedEntries, readSharedState } from '../queries/active-entries.ts';
import {
  boundEntries,
  finishState,
  markSeen,
  readKnownVersions,
  receivePeer,
  rememberSerials,
  storeVersion,
} from '../queries/store-peers.ts';

/** The internal operation `sharedEntries`: a page of what a peer may show. */
export function createSharedEntries({ db }: { db: Database }): FormsOperations['sharedEntries'] {
  return async ({ peer, after, known, limit }) => {
    // The state first: what changes in between makes the next look see another state.
    const state = await readSharedState(db, peer);
    if (state === known) return { state, entries: [], more: false };
    const found = await readSharedEntries(db, { peer, after, limit: limit + 1 });
    return { state, entries: found.slice(0, limit), more: found.length > limit };
  };
}

/** Entries, sorted by what has to be done with them. */
interface Sorted {
  known: PeerVersionHead[];
  fresh: PeerVersion[];
  refused: string[];
}

/**
 * The internal operation `storePeerEntries`: contents pass the rules and the sanitiser of our own (federation.md, "Sharing content").
 * @throws Failure `exists` if another peer has the host.
 */
export function createStorePeerEntries({
  db,
  log,
}: {
  db: Database;
  log: Logger;
}): FormsOperations['storePeerEntries'] {
  return async ({ peer, state, entries }) => {
    const { known, fresh, refused } = await sort(peer, entries);
    const named = (key: string) => ({ id: `${key}@${new URL(peer.url).host}` });
    for (const key of refused)
      log.warn('an entry of a peer breaks the rules for contents and is left out', named(key));
    const left = await db.withTransaction(async (tx) => {
      if (!(await receivePeer(tx, peer, state)))
        throw fail('exists', 'Another peer has the host of this one, so its elements cannot be named.');
      const place = { peer: peer.url, state };
      const changed = await rememberSerials(tx, peer.url, [...known, ...fresh]);
      const isSame = ({ key }: PeerVersionHead) => !changed.has(key);
      if (known.length > 0) await markSeen(tx, place, known.filter(isSame));
      for (const version of fresh.filter(isSame)) await storeVersion(tx, place, version);
      if (fresh.length > 0) await boundEntries(tx, peer.url);
      return [...changed];
    });
    for (const key of left)
      log.warn(
        'an entry of a peer has another content than before under its serial and is left out',
        named(key),
      );
    return { refused: [...refused, ...left] };
  };

  async function sort(peer: CataloguePeer, entries: readonly PeerEntry[]): Promise<Sorted> {
    const sorted: Sorted = { known: [], fresh: [], refused: [] };
    const heads = new Map<string, { head: PeerVersionHead; entry: PeerEntry }>();
    for (const entry of entries) {
      const head = readPeerHead(entry);
      // The second of two entries of one key is as wrong as one that cannot be read.
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

/** The internal operation `finishPeerCatalogue`: what was not in the state is withdrawn with it, or nothing is done. */
export function createFinishPeerCatalogue({ db }: { db: Database }): FormsOperations['finishPeerCatalogue'] {
  return (input) => db.withTransaction(async (tx) => ({ held: await finishState(tx, input) }));
}
