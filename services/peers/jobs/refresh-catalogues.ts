import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { createRepeatedWork } from '#lib/async/repeated-work.ts';
import type { PeerEntry } from '#lib/contracts/peer-entries.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { readCatalogue } from '../client/read-catalogue.ts';
import type { Dependencies } from '../commands/dependencies.ts';
import { readSharedDocument } from '../domain/signatures.ts';
import {
  type ClaimedCatalogue,
  claimCatalogues,
  releaseFailed,
  releaseForgotten,
  releaseRead,
} from '../queries/catalogues.ts';
import { type PairedKeys, readPairedKeys } from '../queries/peer-keys.ts';
import { touchPeer } from '../queries/peers.ts';

const pollMs = 1_000;
/** Interval at which a peer's keys are read, to notice removed ones, and the end of a quarantine. */
const keySeconds = 600;
/** Catalogues that a process reads at the same time. */
const maxConcurrent = 16;
/** The longest time for reading a catalogue; much shorter than the lease. */
const timeoutMs = 45_000;

/**
 * Reads each paired peer's catalogue about once a minute, and at once when the peer announces a change; of a
 * peer in quarantine only its keys. Deletes the copies of former peers. Processes share the work by leases.
 */
export function createCatalogueRefresher(dependencies: Dependencies) {
  const { db, forms, log } = dependencies;
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  async function refresh(claimed: ClaimedCatalogue): Promise<void> {
    const { url, state, beganAt } = claimed;
    try {
      if (!claimed.paired) {
        await forms.forgetPeer({ url });
        return await releaseForgotten(db, claimed);
      }
      await dependencies.refreshKeys(url, keySeconds);
      // In quarantine nothing else is read. If the call above found a description that a pinned key signed,
      // the quarantine has ended.
      if (!(await readPairedKeys(db, url))) return await releaseFailed(db, claimed);
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)]);
      const read = await refreshCatalogue(dependencies, { url, known: state, asOf: beganAt, signal });
      await releaseRead(db, claimed, read);
      await touchPeer(db, url);
    } catch (error) {
      log.warn('failed to read the catalogue of a peer; our copy stays as it is', { id: url, error });
      await releaseFailed(db, claimed);
    }
  }

  async function claim(): Promise<void> {
    const free = maxConcurrent - running.size;
    if (free <= 0 || stopping.signal.aborted) return;
    for (const claimed of await claimCatalogues(db, free)) {
      const { url: id } = claimed;
      const work = refresh(claimed)
        .catch((error: unknown) =>
          log.warn('failed to release a catalogue; retried when the lease expires', { id, error }),
        )
        .finally(() => running.delete(work));
      running.add(work);
    }
  }

  const claims = createRepeatedWork({
    everyMs: pollMs,
    work: claim,
    onError: (error) => log.warn('failed to claim due catalogues; retried in a second', { error }),
  });
  return {
    start: claims.start,
    /** Call when a catalogue has become due. */
    wake: (): void => void claims.runOnce(),
    /** Refreshes all due catalogues, for tests. */
    async runOnce(): Promise<void> {
      await claims.runOnce();
      await Promise.all(running);
    },
    async stop(): Promise<void> {
      stopping.abort();
      await claims.stop();
      await Promise.all(running);
    },
  };
}

/**
 * Updates our copy of a peer's catalogue. Documents that are rejected are skipped and logged.
 * @param known state of our copy. @param asOf when the refresh started.
 * @returns the new state of our copy, and its size unless it is unchanged. @throws Failure `unavailable`.
 */
async function refreshCatalogue(
  dependencies: Dependencies,
  { url, known, asOf, signal }: { url: string; known: string | null; asOf: Date; signal: AbortSignal },
): Promise<{ state: string; size: number | undefined }> {
  const { client, forms, log } = dependencies;
  const store = await createStore(dependencies, url);
  const reading = await readCatalogue({ client, url, known, store: store.add, signal });
  if (reading.cut) log.error('the catalogue of a peer exceeds the limits and was cut', { id: url });
  const { state } = reading;
  const { held } = await forms.finishPeerCatalogue({ url, state, asOf: asOf.toISOString() });
  if (held) return { state, size: state === known ? undefined : store.size() };
  if (known === null) throw fail('unavailable', 'Another process changed the copy at the same time.');
  return refreshCatalogue(dependencies, { url, known: null, asOf, signal });
}

/**
 * Verifies documents page by page and sends their entries to forms. A new state means that reading started
 * over.
 */
async function createStore({ db, forms, refreshKeys, log }: Dependencies, url: string) {
  let keys = await readKeys(db, url);
  let seen = { state: '', keys: new Set<unknown>() };

  /** @returns undefined if the document is rejected. */
  async function verify(jws: string): Promise<PeerEntry | undefined> {
    let read = readSharedDocument(jws, { url, signing: keys.signing });
    if ('fault' in read && read.fault === 'unknown-key' && (await refreshKeys(url))) {
      keys = await readKeys(db, url);
      read = readSharedDocument(jws, { url, signing: keys.signing });
    }
    // Verifying a long document blocks the event loop.
    await yieldToOthers();
    if ('entry' in read) return read.entry;
    log.warn('a document of a peer was rejected and is skipped', { id: url, code: read.fault });
    return undefined;
  }

  async function add(documents: readonly string[], state: string): Promise<void> {
    if (seen.state !== state) seen = { state, keys: new Set() };
    const entries: PeerEntry[] = [];
    for (const jws of documents) {
      const entry = await verify(jws);
      if (!entry) continue;
      if (seen.keys.has(entry.key))
        log.warn('a peer shares two entries with the same key; the second is skipped', { id: url });
      else entries.push(entry);
      seen.keys.add(entry.key);
    }
    const peer = { url, name: keys.name, sealingKey: keys.sealing as Record<string, unknown> };
    // Also without entries: forms must know this state before finishPeerCatalogue.
    await forms.storePeerEntries({ peer, state, entries });
  }

  /** Number of entries in the state that was read last. */
  return { add, size: () => seen.keys.size };
}

async function readKeys(db: Database, url: string): Promise<PairedKeys> {
  const keys = await readPairedKeys(db, url);
  if (!keys) throw fail('unavailable', 'The peer is no longer paired, or its keys wait for confirmation.');
  return keys;
}
