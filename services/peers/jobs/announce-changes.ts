import { type Throttle, throttle } from '#lib/async/timing.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerClient } from '../client/peer-client.ts';
import { listPaired } from '../queries/catalogues.ts';

export type ChangeAnnouncer = ReturnType<typeof createChangeAnnouncer>;

const everyMs = 1_000;

/**
 * Pings the peers whose catalogue differs from the state that they received last: each at most once a second,
 * independently of each other. Lost pings are not repeated: peers read the catalogue every minute anyway.
 */
export function createChangeAnnouncer({
  db,
  client,
  forms,
  log,
}: {
  db: Database;
  client: Pick<PeerClient, 'send'>;
  forms: Pick<FormsOperations, 'sharedEntries'>;
  log: Logger;
}) {
  const pings = new Map<string, Throttle>();

  async function ping(id: string): Promise<void> {
    // Read again, because the peer may have read the catalogue meanwhile.
    const peer = (await listPaired(db)).find((each) => each.id === id);
    if (!peer) return;
    const { url, sentState: known } = peer;
    const { state } = await forms.sharedEntries({ peer: id, after: '', known, limit: 1 });
    if (state === known) return;
    const { status } = await client.send({ method: 'POST', url, path: '/federation/ping' });
    if (status !== 204) log.warn('a peer rejected the catalogue ping; not retried', { id, status });
  }

  async function pingAll(): Promise<void> {
    for (const { id } of await listPaired(db)) {
      const onError = (error: unknown) =>
        log.warn('catalogue ping to peer failed; not retried', { id, error });
      const throttled = pings.get(id) ?? throttle(everyMs, () => ping(id).catch(onError));
      pings.set(id, throttled);
      throttled.run();
    }
  }

  const onError = (error: unknown) =>
    log.warn('failed to list peers for catalogue pings; not retried', { error });
  const all = throttle(everyMs, () => pingAll().catch(onError));
  return {
    /** Call after any change of our models. */
    announce: all.run,
    stop(): void {
      for (const { stop } of [all, ...pings.values()]) stop();
    },
  };
}
