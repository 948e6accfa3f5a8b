import type { Plant } from '../plants.ts';

const lost = 'reply lost after the owner’s COMMIT';

/** Bugs in what two instances that are peers do with answers, put into both; test/chaos/peers must catch them. */
export const peerPlants: readonly Plant[] = [
  {
    patch: 'peers/sid-not-remembered',
    what: 'the owner stores a part without remembering which it was',
    faults: [lost],
    caught: /^I2: the part of \S+ is there twice at the owner/m,
  },
  {
    patch: 'peers/failed-delivery-ended',
    what: 'a delivery ends before its owner has answered',
    faults: ['owner unavailable'],
    caught: /^I1: the part \S+ of \S+ stays (SENDING|HELD)/m,
  },
  {
    patch: 'peers/receipt-of-another-part',
    what: 'nobody looks which part a receipt is about',
    faults: Array(3).fill('answers mixed up'),
    caught: /^I1: the part \S+ is ACCEPTED and at its owner held/m,
  },
  {
    patch: 'peers/decided-before-committed',
    what: 'owners are told the decision before the leader has COMMITTED',
    faults: [lost],
    caught:
      /^I1: the part \S+ of \S+ is REFUSED \(decided\)|^I8: \S+ is CANCELLED and its owner has the part \S+ in force/m,
  },
  {
    patch: 'peers/sealed-kept-after-rollback',
    what: 'sealed answers are kept that were taken back',
    faults: [],
    caught: /^I3: the part \S+ is DROPPED and its sealed answers are kept/m,
  },
  {
    patch: 'peers/held-in-force',
    what: 'records are in force while they are held',
    faults: [lost],
    caught: /^I8: \S+ is CANCELLED and (holds|its owner has)/m,
  },
  {
    patch: 'peers/status-for-a-verdict',
    what: 'a refusal counts that nobody has signed',
    faults: ['owner refusing everything'],
    caught: /^I1: the part \S+ of \S+ is REFUSED \(invalid\) and nobody refused it/m,
  },
  {
    patch: 'peers/answers-not-taken-out',
    what: 'the leader keeps answers that it has sealed for their owner',
    faults: [],
    caught: /^I3: an answer to the owner can be read in the table/m,
  },
];
