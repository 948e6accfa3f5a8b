import { type AttemptParts, attemptDelivery } from '../commands/attempt-delivery.ts';
import { type ReadPart, readAhead } from '../commands/read-ahead.ts';
import type { Claim, Outcome } from '../domain/delivery.ts';
import { giveBack } from '../queries/attempts.ts';
import { claimDeliveries, type Place, releasePlace } from '../queries/deliveries.ts';
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
/** Deliveries that are claimed and read together: few at first, so that all places have something to do. */
const firstBatch = 2;
const largestBatch = 16;
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
export function createPlaceWorker(parts: WorkParts): (place: Place) => Promise<void> {
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

  async function write(claim: Claim, made: { outcome: Outcome; ms: number }): Promise<void> {
    const failed = made.outcome.kind === 'failed';
    if (failed && isBrokenOff()) return giveBack(db, [claim]);
    await record(claim, made);
    // The first that gets through opens the other places.
    if (claim.failures > 0 && !failed) wake();
  }

  /** What one place learns of its peer counts for the others of this process at once. */
  function endBatches(url: string): void {
    for (const batch of batches) if (batch.url === url) batch.failed = true;
  }

  /** What becomes of one is written while the next is sent. @returns how many were sent; the others are given back. */
  async function send(batch: Batch): Promise<number> {
    const { url, claims } = batch;
    const readPart = readAhead(
      transactions,
      claims.filter(({ kind }) => kind === 'submit').map(({ sid }) => sid),
    );
    const writing: Promise<void>[] = [];
    const isOver = () => isStopped() || batch.failed || performance.now() > batch.until;
    for (const claim of claims) {
      // The first has been claimed this moment.
      if (writing.length > 0 && isOver()) break;
      const made = await attempt(claim, readPart);
      if (made.outcome.kind === 'failed') endBatches(url);
      const written = write(claim, made);
      // One that fails before the last is sent is told of below.
      written.catch(() => {});
      writing.push(written);
    }
    await giveBack(db, claims.slice(writing.length));
    await Promise.all(writing);
    return writing.length;
  }

  return async (place) => {
    let most = firstBatch;
    let goesOn = true;
    while (goesOn && !isStopped()) {
      const claims = await claimDeliveries(db, { ...place, leaseSeconds, most });
      const batch = { url: place.url, claims, until: performance.now() + batchMs, failed: false };
      batches.add(batch);
      const sent = await send(batch).finally(() => batches.delete(batch));
      // Fewer than were asked for: there are no more, or they are to be sent one at a time.
      goesOn = !batch.failed && claims.length === most;
      most = Math.min(2 * sent, largestBatch);
    }
    await releasePlace(db, place);
  };
}
