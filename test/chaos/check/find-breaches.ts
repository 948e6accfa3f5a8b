import { acknowledgedIsStored, everybodyWasTold, refusalsAreDue } from './acknowledged.ts';
import {
  changesHaveEvents, eventsWereCarried, poisonIsParked, processesBehave, webhooksWereCalled,
} from './events-told.ts'; // biome-ignore format: one glance
import type { Check, Evidence } from './evidence.ts';
import { historiesAreLegal } from './legal-histories.ts';
import { nothingTwice, oneOpen, onlyWhatWasSent, receiptsTell } from './nothing-twice.ts';

/** Every rule by the invariant of reliability.md that it is of. */
const checks: readonly (readonly [string, Check])[] = [
  ['I1', everybodyWasTold],
  ['I1', acknowledgedIsStored],
  ['I1', refusalsAreDue],
  ['I2', onlyWhatWasSent],
  ['I2', nothingTwice],
  ['I2', receiptsTell],
  ['I4', historiesAreLegal],
  ['I5', changesHaveEvents],
  ['I5', eventsWereCarried],
  ['I5', webhooksWereCalled],
  ['I5', poisonIsParked],
  ['I6', oneOpen],
  ['I9', processesBehave],
];

/**
 * Compares what clients were told with what is stored, carried and received (reliability.md, "Invariants").
 * @returns one sentence for every breach, with its invariant and the ids; none if all is well.
 */
export function findBreaches(evidence: Evidence): string[] {
  return checks.flatMap(([invariant, check]) => check(evidence).map((breach) => `${invariant}: ${breach}`));
}
