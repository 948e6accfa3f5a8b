import { newUuid } from '#lib/ids/new-uuid.ts';
import { atMost } from '#lib/lifecycle/at-most.ts';
import { createPollLoop } from '#lib/lifecycle/poll-loop.ts';
import { claimPlaces, type TakenPlace } from '../queries/deliveries.ts';
import { createPlaceWorker, leaseSeconds, type WorkParts } from './work-place.ts';

/** Sends peers what is due to them. */
export interface PeerDeliveryJob {
  start(): void;
  /** Call when there is something due: it is sent at once if its peer has a place free. */
  wake(): void;
  /** Waits for the attempts that are being made, then breaks them off and leaves them to the next process. */
  stop(): Promise<void>;
}

interface Parts extends Omit<WorkParts, 'isStopped' | 'isBrokenOff' | 'wake'> {
  /** Breaks off what is under way. */
  breakOff: () => Promise<void>;
}

/** Places that this process works at once: each has few submissions in memory. */
const inAll = 64;
/** For attempts that are being made, and again for what is written down: less than a process has for its services (stop-parts.ts). */
const graceMs = 2_000;

/**
 * Works the deliveries. A peer has so many places over all replicas; who takes one sends what is due to that peer, one delivery after the
 * other, until there is nothing, or it fails. So a peer that is slow or away takes its own places and nobody else's.
 */
export function createPeerDeliveryJob(parts: Parts): PeerDeliveryJob {
  const { db, log, breakOff } = parts;
  const running = new Set<Promise<void>>();
  let stopped = true;
  let brokenOff = false;
  const loop = createPollLoop({ look: claimAndBegin });
  const work = createPlaceWorker({
    ...parts,
    ...{ wake: loop.wake, isStopped: () => stopped, isBrokenOff: () => brokenOff },
  });

  function begin(place: TakenPlace): void {
    // What is not written down is attempted again when the lease is over; the receiver knows it by its sid.
    const run = work(place)
      .catch((error: unknown) =>
        log.warn('a place in a queue stays taken until its lease is over', { error }),
      )
      .finally(() => {
        const wasFull = running.size >= inAll;
        running.delete(run);
        if (wasFull) loop.wake();
      });
    running.add(run);
  }

  /** @returns whether there was something. */
  async function claimAndBegin(): Promise<boolean> {
    const most = inAll - running.size;
    if (most <= 0) return false;
    try {
      const places = await claimPlaces(db, { lease: newUuid(), leaseSeconds, most });
      for (const place of places) begin(place);
      return places.length > 0;
    } catch (error) {
      log.warn('deliveries to peers wait for the next try', { error });
      return false;
    }
  }

  return {
    start() {
      stopped = false;
      loop.start();
    },
    wake: loop.wake,
    async stop() {
      stopped = true;
      await loop.stop();
      await atMost(graceMs, Promise.all(running));
      brokenOff = true;
      await breakOff();
      await atMost(graceMs, Promise.all(running));
    },
  };
}
