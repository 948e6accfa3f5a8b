import { type CatalogueDependencies, refreshCatalogue } from '../commands/refresh-catalogue.ts';
import type { RefreshKeys } from '../commands/refresh-keys.ts';
import {
  type ClaimedCatalogue,
  claimCatalogues,
  releaseFailed,
  releaseForgotten,
  releaseRead,
} from '../queries/catalogues.ts';
import { touchPeer } from '../queries/peers.ts';

export type CatalogueRefresher = ReturnType<typeof createCatalogueRefresher>;

const pollMs = 1_000;
/** Catalogues that a process reads at the same time. */
const maxConcurrent = 16;
/** Much shorter than the lease. */
const timeoutMs = 45_000;

/**
 * Reads each paired peer's catalogue about once a minute, and at once when the peer announces a change.
 * Deletes the copies of former peers. Processes share the work by leases.
 */
export function createCatalogueRefresher(
  dependencies: CatalogueDependencies & { refreshKeysPeriodically: RefreshKeys },
) {
  const { db, forms, log } = dependencies;
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let claiming: Promise<void> = Promise.resolve();

  async function refresh(claimed: ClaimedCatalogue): Promise<void> {
    const { url, state, beganAt } = claimed;
    try {
      if (!claimed.paired) {
        await forms.forgetPeer({ url });
        return await releaseForgotten(db, claimed);
      }
      await dependencies.refreshKeysPeriodically(url);
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
      const work = refresh(claimed)
        .catch((error: unknown) =>
          log.warn('failed to release a catalogue; retried when the lease expires', {
            id: claimed.url,
            error,
          }),
        )
        .finally(() => running.delete(work));
      running.add(work);
    }
  }

  /** One claim at a time, so that the limit holds. */
  function claimNext(): Promise<void> {
    claiming = claiming
      .then(claim)
      .catch((error: unknown) => log.warn('failed to claim due catalogues; retried in a second', { error }));
    return claiming;
  }

  return {
    start(): void {
      timer = setInterval(() => void claimNext(), pollMs);
      timer.unref();
    },
    /** Call when a catalogue has become due. */
    wake: (): void => void claimNext(),
    /** Refreshes all due catalogues, for tests. */
    async runOnce(): Promise<void> {
      await claimNext();
      await Promise.all(running);
    },
    async stop(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      await claiming;
      await Promise.all(running);
    },
  };
}
