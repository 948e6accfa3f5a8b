import { atMost } from '#lib/lifecycle/at-most.ts';
import { type Claim, claimDeliveries, releaseClaim } from '../queries/attempts.ts';
import { type AttemptParts, attemptMs, callEndpoint, recordOutcome } from './attempt-delivery.ts';

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
/** Longer than an attempt takes, with what is written before and after it. */
const leaseSeconds = attemptMs / 1000 + 15;
const minPollMs = 50;
const maxPollMs = 500;
/** For calls that are being made, and again for writing down what became of them: less than a process has for its services (stop-parts.ts). */
const graceMs = 2_000;

/** Works the delivery table; any number of processes may do so at once. */
export function createDeliveryJob(parts: AttemptParts): DeliveryJob {
  const { db, outbound, log } = parts;
  const busy = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const breakOff = new AbortController();
  let stopped = true;
  let loop: Promise<void> | undefined;
  let wakeUp: (() => void) | undefined;
  let woken = false;

  async function attempt(claim: Claim): Promise<void> {
    const began = performance.now();
    const outcome = await callEndpoint(parts, claim, breakOff.signal);
    const ms = Math.round(performance.now() - began);
    if (outcome === undefined) await releaseClaim(db, claim);
    else await recordOutcome(parts, claim, { outcome, ms });
  }

  function begin(claim: Claim): void {
    const { webhook, id } = claim;
    busy.set(webhook, (busy.get(webhook) ?? 0) + 1);
    // What is not written down is attempted again when the lease is over, under the same webhook-id.
    const work = attempt(claim)
      .catch((error) => log.warn('what became of a delivery could not be noted', { id, error }))
      .finally(() => {
        running.delete(work);
        const left = (busy.get(webhook) as number) - 1;
        if (left === 0) busy.delete(webhook);
        else busy.set(webhook, left);
        wake();
      });
    running.add(work);
  }

  /** @returns whether there was something. */
  async function claimAndBegin(): Promise<boolean> {
    const room = inAll - running.size;
    if (room === 0) return false;
    try {
      const claims = await claimDeliveries(db, { busy, perWebhook, room, leaseSeconds });
      for (const claim of claims) begin(claim);
      return claims.length > 0;
    } catch (error) {
      log.warn('deliveries wait for the next try', { error });
      return false;
    }
  }

  function wake(): void {
    woken = true;
    wakeUp?.();
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    let pollMs = minPollMs;
    while (!stopped) {
      woken = false;
      pollMs = (await claimAndBegin()) ? minPollMs : Math.min(pollMs * 2, maxPollMs);
      if (!stopped && !woken) await pause(pollMs);
    }
  }

  return {
    start() {
      stopped = false;
      loop = run();
    },
    wake,
    async stop() {
      stopped = true;
      wakeUp?.();
      await loop;
      await atMost(graceMs, Promise.all(running));
      breakOff.abort();
      await outbound.stop();
      await atMost(graceMs, Promise.all(running));
    },
  };
}
