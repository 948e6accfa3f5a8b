import { expect, it } from 'vitest';
import { PoisonError } from '#lib/events/dead-letters.ts';
import { sampleEvent } from '../support/samples/sample-events.ts';
import { eventContract } from '../support/stores/event-bus.ts';

const { data } = sampleEvent();
const check = (changes: object) => () => eventContract.check('accord.consents', sampleEvent(changes));

it('a received event may have unknown members, and must meet the contract otherwise', () => {
  expect(check({ data: { ...data, added: 'later' } })).not.toThrow();
  expect(check({ addedlater: 'x' })).not.toThrow();
  for (const changes of [
    { data: { ...data, state: 'UNHEARD' } },
    { data: { state: 'CREATED', version: 1 } },
    { subject: '' },
    { type: 'io.accord.consent.created.v2' },
  ])
    expect(check(changes)).toThrow(PoisonError);
});

it('an event that violates the contract is not published, and refused permanently unless it is recent', () => {
  const refusal = (changes: object) => eventContract.refusal('accord.consents', sampleEvent(changes));
  expect(refusal({})).toBeUndefined();
  expect(refusal({ data: { ...data, answer: 'yes' } })).toMatchObject({ permanent: false });
  expect(refusal({ data: { ...data, answer: 'yes' }, time: 'when?' })).toMatchObject({ permanent: true });
});
