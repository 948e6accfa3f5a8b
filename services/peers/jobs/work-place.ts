import { type AttemptParts, attemptDelivery } from '../commands/attempt-delivery.ts';
import { type ReadPart, readAhead } from '../commands/read-ahead.ts';
import type { Claim, Outcome } from '../domain/delivery.ts';
import { giveBack } from '../queries/attempts.ts';
import { claimDeliveries, releasePlace, type TakenPlace } from '../queries/deliveries.ts';
import { createOutcomeRecorder, type RecordParts } from './record-outcome.ts';

export interface WorkParts extends AttemptParts, RecordParts {
  /** Nothing more is begun. */
  isStopped: () => boolean;
  /** What is under way is broken off: that it fails then says nothing of the peer. */
  isBrokenOff: () => boolean;
  /** There may be something due for other places. */
  wake: () => void;
}

/** Longer than a batch takes, with what is read before it and written after it. */
export const leaseSeconds = 30;
/** Deliveries that are claimed and read together: one at first, then twice as many each time, so that all places have something to do. */
const largestBatch = 32;
/** So long claimed ones are begun: what becomes of the peer meanwhile, elsewhere, is looked at when the next are claimed. */
const batchMs = 1_000;

/** Claimed together, sent one after the other. */
interface Batch {
  url: string;
  claims: readonly Claim[];
  /** By performance.now(). */
  until: number;
  /** The peer has failed, here or at another place of this process. */
  failed: boolean;
}

/** Works places: sends what is due to their peer, one delivery after the other, until there is nothing, or one fails. */
export function createPlaceWorker(parts: WorkParts): (place: TakenPlace) => Promise<void> {
  const { db, transactions, log, isStopped, isBrokenOff, wake } = parts;
  const record = createOutcomeRecorder(parts);
  const batches = new Set<Batch>();

  async function attempt(claim: Claim, readPart: ReadPart): Promise<{ outcome: Outcome; ms: number }> {
    const began = performance.now();
    const outcome: Outcome = await attemptDelivery(parts, claim, readPart).catch((error: unknown) => {
      log.warn('a delivery to a peer could not be made', { id: claim.peer.id, error });
      return { kind: 'failed', own: true, error: 'It could not be made.' };
    });
    return { outcome, ms: Math.round(performance.now() - began) };
  }

  /** Never rejects. What cannot be written down is made again when its lease is over; nothing more is sent meanwhile. */
  async function write(claim: Claim, made: { outcome: Outcome; ms: number }): Promise<void> {
    const { peer, url, failures } = claim;
    const failed = made.outcome.kind === 'failed';
    try {
      if (failed && isBrokenOff()) return await giveBack(db, [claim]);
      await record(claim, made);
      // The first that gets through opens the other places.
      if (failures > 0 && !failed) wake();
    } catch (error) {
      log.warn('what became of a delivery to a peer could not be noted', { id: peer.id, error });
      endBatches(url);
    }
  }

  /** What one place learns of its peer counts for the others of this process at once. */
  function endBatches(url: string): void {
    for (const batch of batches) if (batch.url === url) batch.failed = true;
  }

  /** What becomes of one is written while the next is sent. @returns how many were sent; the others are given back. */
  async function send(batch: Batch, writing: Set<Promise<void>>): Promise<number> {
    const { url, claims } = batch;
    const readPart = readAhead(
      transactions,
      claims.filter(({ kind }) => kind === 'submit').map(({ sid }) => sid),
    );
    let sent = 0;
    for (const claim of claims) {
      // The first has been claimed this moment.
      if (sent > 0 && (isStopped() || batch.failed || performance.now() > batch.until)) break;
      const made = await attempt(claim, readPart);
      sent += 1;
      if (made.outcome.kind === 'failed') endBatches(url);
      const written = write(claim, made);
      writing.add(written);
      void written.then(() => writing.delete(written));
    }
    await giveBack(db, claims.slice(sent));
    return sent;
  }

  return async ({ isMore, ...place }) => {
    const writing = new Set<Promise<void>>();
    let most = 1;
    let goesOn = true;
    let failed = false;
    while (goesOn && !isStopped()) {
      const claims = await claimDeliveries(db, { ...place, leaseSeconds, most });
      const batch = { url: place.url, claims, until: performance.now() + batchMs, failed: false };
      batches.add(batch);
      const sent = await send(batch, writing).finally(() => batches.delete(batch));
      failed = batch.failed;
      // Fewer than were asked for: there are no more, or they are to be sent one at a time.
      goesOn = isMore && !failed && claims.length === most;
      most = Math.min(2 * sent, largestBatch);
    }
    // That it fails is written down before this place is free: whoever takes it is to leave the peer alone.
    if (failed) await Promise.all(writing);
    await releasePlace(db, place);
    // Something may have come while it was still taken.
    wake();
    await Promise.all(writing);
  };
}
