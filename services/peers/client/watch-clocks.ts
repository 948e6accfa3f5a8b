import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerMetrics } from '#lib/observability/metrics/peer-metrics.ts';
import { mostSkewSeconds } from '../domain/peer-token.ts';
import { findPeerByUrl } from '../queries/peers.ts';

/** Notes how far the clocks of peers are from ours: what they sign would be refused, and what we sign. */
export interface ClockWatch {
  /** @param at what time it was there; undefined if it does not say, or says nonsense. */
  note(url: string, at: Date | undefined): void;
}

/** A clock is looked at so often; one that is wrong is told of as often. */
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
  const noted = new Map<string, number>();

  async function tell(url: string, seconds: number): Promise<void> {
    const peer = await findPeerByUrl(db, url);
    if (!peer) return void noted.delete(url);
    metrics?.clock(peer.id, seconds);
    if (Math.abs(seconds) > mostSkewSeconds)
      log.error('the clock of a peer is not as ours: compare both with a time server', {
        id: peer.id,
        count: Math.round(seconds),
      });
  }

  return {
    note(url, at) {
      const now = Date.now();
      if (!at || Number.isNaN(at.getTime()) || now < (noted.get(url) ?? 0) + everyMs) return;
      noted.set(url, now);
      tell(url, (at.getTime() - now) / 1000).catch((error: unknown) => {
        noted.delete(url);
        log.warn('the clock of a peer could not be noted', { error });
      });
    },
  };
}
