import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerMetrics } from '#lib/observability/metrics/event-metrics.ts';
import { mostSkewSeconds } from '../domain/peer-token.ts';
import { findPeerByUrl } from '../queries/peers.ts';

/** Notes how far the clocks of peers are from ours: what they sign would be refused, and what we sign. */
export interface ClockWatch {
  /** @param at what time it was there; undefined if it does not say, or says nonsense. */
  note(url: string, at: Date | undefined): void;
}

/** A clock is looked at so often, and at once when it is wrong, or right again. */
const everyMs = 60_000;

export function createClockWatch({
  db,
  log,
  metrics,
}: {
  db: Database;
  log: Logger;
  metrics?: PeerMetrics | undefined;
}): ClockWatch {
  const noted = new Map<string, { at: number; wrong: boolean }>();

  async function tell(url: string, { seconds, wrong }: { seconds: number; wrong: boolean }): Promise<void> {
    const peer = await findPeerByUrl(db, url);
    if (!peer) return void noted.delete(url);
    metrics?.clock(peer.id, seconds);
    if (wrong)
      log.error('the clock of a peer is not as ours: compare both with a time server', {
        id: peer.id,
        count: Math.round(seconds),
      });
  }

  return {
    note(url, at) {
      if (!at || Number.isNaN(at.getTime())) return;
      const now = Date.now();
      const seconds = (at.getTime() - now) / 1000;
      const wrong = Math.abs(seconds) > mostSkewSeconds;
      const last = noted.get(url);
      if (last && last.wrong === wrong && now < last.at + everyMs) return;
      noted.set(url, { at: now, wrong });
      tell(url, { seconds, wrong }).catch((error: unknown) => {
        noted.delete(url);
        log.warn('the clock of a peer could not be noted', { error });
      });
    },
  };
}
