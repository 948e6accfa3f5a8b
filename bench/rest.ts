import { setTimeout as wait } from 'node:timers/promises';
import { watchStolen } from './process-usage.ts';

/** Of the time that a machine needs, its host may give so much to others before a figure is measured. */
const mostStolen = 0.05;
const lookMs = 1_000;
const restMs = 15_000;
const patienceMs = 300_000;

/**
 * A host that gave much takes it back for a while: waits until it gives what is needed again, for five
 * minutes at most. What was stolen nevertheless stands in the report.
 */
export async function rest(): Promise<void> {
  const until = performance.now() + patienceMs;
  while (performance.now() < until) {
    const stolen = watchStolen();
    const looked = performance.now() + lookMs;
    // Only a machine that needs time shows whether it gets it.
    while (performance.now() < looked);
    if ((stolen() ?? 0) <= mostStolen) return;
    await wait(restMs);
  }
}
