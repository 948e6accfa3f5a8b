import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { maxSkewSeconds } from '../domain/signatures.ts';
import { findPeerByUrl, listPeersInContact } from '../queries/peers.ts';

export type ClockWatch = ReturnType<typeof createClockWatch>;

/** Interval of readings for one peer. A difference that crosses the limit is recorded at once. */
const everyMs = 60_000;

/** Watches the clocks of peers: with too much skew, instances reject each other's signatures. */
export function createClockWatch({ db, log }: { db: Database; log: Logger }) {
  const noted = new Map<string, { at: number; wrong: boolean }>();
  /** By peer id: how far its clock was ahead of ours, in seconds. */
  const skews = new Map<string, number>();

  async function record(url: string, { seconds, wrong }: { seconds: number; wrong: boolean }): Promise<void> {
    const peer = await findPeerByUrl(db, url);
    if (!peer) return void noted.delete(url);
    skews.set(peer.id, seconds);
    if (wrong)
      log.error('the clock of a peer differs from ours; compare both with a time server', {
        id: peer.id,
        count: Math.round(seconds),
      });
  }

  return {
    /** @param at the peer's time; undefined if it is unknown. */
    note(url: string, at: Date | undefined): void {
      if (!at || Number.isNaN(at.getTime())) return;
      const now = Date.now();
      const seconds = (at.getTime() - now) / 1000;
      const wrong = Math.abs(seconds) > maxSkewSeconds;
      const last = noted.get(url);
      if (last && last.wrong === wrong && now < last.at + everyMs) return;
      noted.set(url, { at: now, wrong });
      record(url, { seconds, wrong }).catch((error: unknown) => {
        noted.delete(url);
        log.warn('failed to record the clock of a peer; recorded with its next message', { error });
      });
    },
    /** Lists the latest readings, for metrics. Forgets peers that were removed or have ended the pairing. */
    async read(): Promise<{ peer: string; seconds: number }[]> {
      const peers = new Set(await listPeersInContact(db));
      for (const peer of skews.keys()) if (!peers.has(peer)) skews.delete(peer);
      return [...skews].map(([peer, seconds]) => ({ peer, seconds }));
    },
  };
}
