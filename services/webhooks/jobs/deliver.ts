import { atMost } from '#lib/lifecycle/at-most.ts';
import { createPollLoop } from '#lib/lifecycle/poll-loop.ts';
import { type Claim, claimDeliveries, releaseClaims } from '../queries/attempts.ts';
import { type AttemptParts, attemptMs, callEndpoint, createOutcomeRecorder } from './attempt-delivery.ts';
import { createLanes } from './lanes.ts';

/** Calls endpoints with what is due. */
export interface DeliveryJob {
  start(): void;
  /** Call when there is something due. */
  wake(): void;
  /** Waits for the calls that are being made, then breaks them off and leaves them to the next process. */
  stop(): Promise<void>;
}

/** So many at once to one endpoint; one at a time while it fails. A slow one takes no more than that of what all have. */
const perWebhook = 4;
const inAll = 64;
const slowMs = 2_000;
/** So many more are claimed for an endpoint that works: its next call waits for no statement, and a statement is for many. */
const ahead = 16;
/** So many calls of an endpoint that works may not be written down yet while others are made: a COMMIT takes longer than most of them. */
const unwritten = 2 * ahead;
/** Called or to be called: enough for {@link inAll} endpoints, however slow they all are. */
const heldInAll = inAll * (1 + ahead);
/** Longer than an attempt takes, with what is written before and after it; and what was claimed ahead waits for {@link waitMs} at most. */
const leaseSeconds = attemptMs / 1000 + 15;
const waitMs = 8_000;
/** For calls that are being made, and again for writing down what became of them: less than a process has for its services (stop-parts.ts). */
const graceMs = 2_000;

/** Works the delivery table; any number of processes may do so at once. */
export function createDeliveryJob(parts: AttemptParts): DeliveryJob {
  const { db, outbound, log } = parts;
  const recordOutcome = createOutcomeRecorder(parts);
  const lanes = createLanes({ perWebhook, inAll, slowMs, unwritten, waitMs });
  const running = new Set<Promise<void>>();
  const breakOff = new AbortController();
  const loop = createPollLoop({ look: claimAndBegin });

  /** What is not written down is attempted again when the lease is over, under the same webhook-id. */
  function keep(work: Promise<void>, id?: string): void {
    const kept = work
      .catch((error) => log.warn('what became of a delivery could not be noted', { id, error }))
      .finally(() => running.delete(kept));
    running.add(kept);
  }

  /** @param goOn its call is over, though what became of it is not written down. */
  async function attempt(claim: Claim, goOn: () => void): Promise<void> {
    const began = performance.now();
    const outcome = await callEndpoint(parts, claim, breakOff.signal);
    const ms = Math.round(performance.now() - began);
    if (outcome === undefined) return releaseClaims(db, [claim]);
    if (outcome.kind === 'delivered') {
      goOn();
      return recordOutcome(claim, { outcome, ms });
    }
    // An endpoint that fails is called one at a time: what was claimed ahead for it goes back when that is known.
    const back = lanes.clear(claim.webhook);
    await recordOutcome(claim, { outcome, ms }).finally(() => releaseClaims(db, back));
  }

  function begin(claim: Claim): void {
    const { id, webhook } = claim;
    const began = performance.now();
    const goOn = once(() => {
      lanes.leave(webhook, performance.now() - began);
      beginNext();
      if (lanes.waiting(webhook) <= ahead / 2) loop.wake();
    });
    const work = attempt(claim, goOn).catch((error) => {
      // Nothing more is sent that could not be written down either.
      keep(releaseClaims(db, lanes.clear(webhook)));
      throw error;
    });
    const end = () => {
      goOn();
      lanes.written(webhook);
      beginNext();
    };
    keep(work.finally(end), id);
  }

  function beginNext(): void {
    const { next, late } = lanes.take();
    if (late.length > 0) keep(releaseClaims(db, late));
    for (const claim of next) begin(claim);
  }

  /** @returns whether there was something. */
  async function claimAndBegin(): Promise<boolean> {
    const held = lanes.held();
    const room = heldInAll - [...held.values()].reduce((sum, each) => sum + each, 0);
    if (room <= 0) return false;
    try {
      const at = performance.now();
      const claims = await claimDeliveries(db, { held, perWebhook: perWebhook + ahead, room, leaseSeconds });
      lanes.add(claims, at);
      beginNext();
      return claims.length > 0;
    } catch (error) {
      log.warn('deliveries wait for the next try', { error });
      return false;
    }
  }

  return {
    start: loop.start,
    wake: loop.wake,
    async stop() {
      await loop.stop();
      keep(releaseClaims(db, lanes.clearAll()));
      await atMost(graceMs, Promise.all(running));
      breakOff.abort();
      await outbound.stop();
      await atMost(graceMs, Promise.all(running));
    },
  };
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}
