import { setTimeout as wait } from 'node:timers/promises';
import { atMost } from '#lib/async/at-most.ts';
import type { Listener } from '#lib/http/listen.ts';
import type { Probes } from '#lib/http/probes.ts';
import type { OwnedRuntime } from '#lib/runtime/create-runtime.ts';

/** What there is to stop in a process; absent what a start did not get to. */
export interface ProcessParts {
  probes: Probes;
  /** The public address. */
  front?: Listener;
  /** The internal port. */
  internal?: Listener;
  service?: { stop(): Promise<void> };
  runtime?: OwnedRuntime;
}

/** With the delay (5 s, at most 10) this is hardly ever as long as the 25 s after which the process is cut off. */
const drainMs = 10_000;
/** Calls to the outside get some time and are then broken off and left to others, and a relay has 3 s of its own: whoever hangs has less. */
const workMs = 8_000;
const endMs = 5_000;

/**
 * Stops a process in order (reliability.md, "Lifecycle"): not ready, time for routers to notice, consumers, requests, outbox, the rest.
 * Each step is bounded: what is not done then another replica does, because nothing is acknowledged that is not in PostgreSQL.
 */
export async function stopParts(parts: ProcessParts, delayMs: number): Promise<void> {
  const { probes, front, internal, service, runtime } = parts;
  probes.stopping();
  front?.closeConnections();
  internal?.closeConnections();
  if (delayMs > 0) await wait(delayMs);
  await Promise.all([front?.close(drainMs), atMost(drainMs, runtime?.stopReading())]);
  // Only now: requests of other services that are stopping at the same time may have needed it.
  await internal?.close(endMs);
  await atMost(workMs, service?.stop());
  await atMost(endMs, runtime?.stop());
}
