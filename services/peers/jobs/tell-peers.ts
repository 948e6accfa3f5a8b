import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerClient } from '../client/peer-client.ts';
import { listPaired } from '../queries/catalogues.ts';
import { atMostEvery } from './at-most-every.ts';

/** Tells peers that what they may show has changed. */
export interface PeerTeller {
  /** Something has changed: those whom it concerns are told, soon. */
  changed(): void;
  stop(): void;
}

const everyMs = 1_000;

/**
 * Pings the peers for whom our catalogue is not as they last got it: each at most once a second, however much changes and however slow another
 * one is. A ping that does not arrive is not repeated: the peer looks once a minute anyway.
 */
export function createPeerTeller({
  db,
  client,
  forms,
  log,
}: {
  db: Database;
  client: Pick<PeerClient, 'send'>;
  forms: Pick<FormsOperations, 'sharedEntries'>;
  log: Logger;
}): PeerTeller {
  const tellers = new Map<string, { tell(): void; stop(): void }>();

  async function tell(id: string): Promise<void> {
    // As it is now: the peer may have looked meanwhile.
    const peer = (await listPaired(db)).find((each) => each.id === id);
    if (!peer) return;
    const { url, shownState: known } = peer;
    const { state } = await forms.sharedEntries({ peer: id, after: '', known, limit: 1 });
    if (state === known) return;
    const { status } = await client.send({ method: 'POST', url, path: '/federation/ping' });
    if (status !== 204) log.warn('a peer does not want to know what has changed', { id, status });
  }

  async function tellAll(): Promise<void> {
    for (const { id } of await listPaired(db)) {
      const work = () =>
        tell(id).catch((error: unknown) =>
          log.warn('a peer could not be told that something has changed', { id, error }),
        );
      const teller = tellers.get(id) ?? atMostEvery(everyMs, work);
      tellers.set(id, teller);
      teller.tell();
    }
  }

  const all = atMostEvery(everyMs, () =>
    tellAll().catch((error: unknown) => log.warn('peers learn later what has changed', { error })),
  );
  return {
    changed: all.tell,
    stop() {
      for (const { stop } of [all, ...tellers.values()]) stop();
    },
  };
}
