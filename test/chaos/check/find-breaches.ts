import type { Meter } from '../load/send.ts';
import type { Struck } from '../run-chaos.ts';
import { acknowledgedIsStored, everybodyWasTold, refusalsAreDue } from './acknowledged.ts';
import {
  changesHaveEvents,
  eventsWereCarried,
  poisonIsParked,
  processesBehave,
  webhooksWereCalled,
} from './events-told.ts';
import type { Check, Evidence } from './evidence.ts';
import { mailsArriveOnce, messagesArrive, notificationsAreWritten } from './messages-sent.ts';
import { nothingTwice, oneOpen, onlyWhatWasSent, receiptsTell } from './nothing-twice.ts';

/**
 * From each state, where one may go (docs/interface.md, "States"); written down once more, so that a fault in
 * the code's own table shows.
 */
const legal: Record<string, readonly string[]> = {
  '': ['CREATED'],
  CREATED: ['COMMITTED', 'SUBMITTED', 'CANCELLED', 'TIMEOUT'],
  SUBMITTED: ['COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'],
};

/** I4: versions without gaps, each step legal, the last one where the transaction is. */
const historiesAreLegal: Check = ({ stored }) => {
  const byTransaction = Map.groupBy(stored.versions, ({ transaction }) => transaction);
  return stored.transactions.flatMap(({ id, state, version }) => {
    const versions = (byTransaction.get(id) ?? []).sort((a, b) => a.version - b.version);
    const numbers = versions.map((each) => each.version);
    if (numbers.length !== version || numbers.some((number, index) => number !== index + 1))
      return [`${id} is at version ${version}, and its history has ${numbers.join()}`];
    const path = ['', ...versions.map((each) => each.state)];
    if (path.some((to, index) => index > 0 && !legal[path[index - 1] as string]?.includes(to)))
      return [`${id} went ${path.slice(1).join(' → ')}`];
    return path.at(-1) === state ? [] : [`${id} is ${state}, and its history ends with ${path.at(-1)}`];
  });
};

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
  ['I7', notificationsAreWritten],
  ['I7', messagesArrive],
  ['I7', mailsArriveOnce],
  ['I9', processesBehave],
];

/**
 * Compares what clients were told with what is stored, carried and received (reliability.md, "Invariants").
 * @returns one sentence for every breach, with its invariant and the ids; none if all is well.
 */
export function findBreaches(evidence: Evidence): string[] {
  return checks.flatMap(([invariant, check]) => check(evidence).map((breach) => `${invariant}: ${breach}`));
}

/**
 * What a fault on its own must not keep from going on, and did: of all times together that the same was
 * broken.
 */
export function brokenPromises(struck: readonly Struck[], meter: Meter): string[] {
  const alone = struck.flatMap(({ blow, ...time }) =>
    blow.length === 1 && blow[0] ? [{ fault: blow[0], ...time }] : [],
  );
  return [...Map.groupBy(alone, ({ fault }) => `${fault.breaks} ${fault.promised?.perMille}`)].flatMap(
    ([, times]) => {
      const promised = times[0]?.fault.promised;
      if (!promised) return [];
      const found = times.map(({ from, to }) => meter.between(from, to, promised.kinds));
      const sent = found.reduce((sum, each) => sum + each.sent, 0);
      const failed = found.reduce((sum, each) => sum + each.failed, 0);
      const reasons = found.flatMap((each) => Object.keys(each.reasons));
      return failed * 1_000 > sent * (1_000 - promised.perMille)
        ? [
            `I9: during ${[...new Set(times.map(({ fault }) => fault.name))].join(', ')} ${failed} of ${sent} requests failed (${[...new Set(reasons)].join(', ')})`,
          ]
        : [];
    },
  );
}
