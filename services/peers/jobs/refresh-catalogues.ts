import { type CatalogueParts, refreshCatalogue } from '../commands/refresh-catalogue.ts';
import {
  type ClaimedCatalogue,
  claimCatalogues,
  releaseFailed,
  releaseForgotten,
  releaseRead,
} from '../queries/catalogues.ts';
import { touchPeerByUrl } from '../queries/peers.ts';

interface RefresherParts extends CatalogueParts {
  /** Asks a peer for its keys: those that it has no more are not to be trusted for longer than until then. */
  lookNowAndThen: (url: string) => Promise<boolean>;
}

/** Keeps our copies of peers' catalogues as they are there. */
export interface CatalogueRefresher {
  start(): void;
  /** Looks at once for what is due. */
  wake(): void;
  /** Reads what is due now and resolves when all of it was read, or could not be. */
  runOnce(): Promise<void>;
  stop(): Promise<void>;
}

const pollMs = 1_000;
/** Peers that are read at the same time by a replica: a slow one takes a place and delays nobody. */
const places = 16;
/** Shorter than the lease by far. */
const mostMs = 45_000;

/**
 * Reads each paired peer's catalogue about once a minute, and at once when it is wanted; forgets the copies of former peers. Replicas share
 * the work by leases.
 */
export function createCatalogueRefresher(parts: RefresherParts): CatalogueRefresher {
  const { db, forms, log } = parts;
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
      await parts.lookNowAndThen(url);
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(mostMs)]);
      const read = await refreshCatalogue(parts, { url, known: state, asOf: beganAt, signal });
      await releaseRead(db, claimed, read);
      await touchPeerByUrl(db, url);
    } catch (error) {
      log.warn('what a peer shares could not be read; the copy stays as it is', { id: url, error });
      await releaseFailed(db, claimed);
    }
  }

  async function claim(): Promise<void> {
    const free = places - running.size;
    if (free <= 0 || stopping.signal.aborted) return;
    for (const claimed of await claimCatalogues(db, free)) {
      const work = refresh(claimed)
        .catch((error: unknown) => log.warn('a lease stays until it runs out', { id: claimed.url, error }))
        .finally(() => running.delete(work));
      running.add(work);
    }
  }

  /** One claim at a time, so that there are never more than there are places. */
  function claimNext(): Promise<void> {
    claiming = claiming
      .then(claim)
      .catch((error: unknown) => log.warn('catalogues are read later', { error }));
    return claiming;
  }

  return {
    start() {
      timer = setInterval(() => void claimNext(), pollMs);
      timer.unref();
    },
    wake: () => void claimNext(),
    async runOnce() {
      await claimNext();
      await Promise.all(running);
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await claiming;
      await Promise.all(running);
    },
  };
}
