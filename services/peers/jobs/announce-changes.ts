import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerClient } from '../client/peer-client.ts';
import { listPaired } from '../queries/catalogues.ts';

/** Pings peers when the catalogue that they may read has changed. */
export interface ChangeAnnouncer {
  /** Call after any change of our models. */
  announce(): void;
  stop(): void;
}

const everyMs = 1_000;

/**
 * Pings the peers whose catalogue differs from the state that they received last: each at most once a second,
 * and independently of each other. A lost ping is not repeated, because peers read the catalogue every minute
 * anyway.
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
}): ChangeAnnouncer {
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
    announce: all.run,
    stop() {
      for (const { stop } of [all, ...pings.values()]) stop();
    },
  };
}

interface Throttle {
  run(): void;
  stop(): void;
}

/**
 * Runs work at once if its last start was at least `ms` ago, otherwise once at that time. Runs never overlap.
 * @param work never rejects.
 */
export function throttle(ms: number, work: () => Promise<void>): Throttle {
  let isWanted = false;
  let isRunning = false;
  let isStopped = false;
  let startedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  async function start(): Promise<void> {
    timer = undefined;
    isWanted = false;
    isRunning = true;
    startedAt = performance.now();
    await work();
    isRunning = false;
    if (isWanted) schedule();
  }

  function schedule(): void {
    if (isRunning || isStopped || timer) return;
    const waitMs = startedAt + ms - performance.now();
    if (waitMs <= 0) return void start();
    timer = setTimeout(() => void start(), waitMs);
    timer.unref();
  }

  return {
    run() {
      isWanted = true;
      schedule();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
