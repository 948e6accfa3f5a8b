import { expect, test } from 'vitest';
import type { KafkaConnection } from '#lib/events/kafka/kafka-client.ts';
import { createSender } from '#lib/events/kafka/sender.ts';
import { outbound, sampleEvent } from '../support/sample-events.ts';

/** A broker that answers each send as the test says. */
function brokerThat(answer: (subjects: string[]) => Error | undefined) {
  const asked: string[][] = [];
  const send = async ({ messages }: { messages: { key: string }[] }) => {
    const subjects = messages.map(({ key }) => key);
    asked.push(subjects);
    const error = answer(subjects);
    if (error) throw error;
    return [{ partition: 0, baseOffset: String(asked.length), errorCode: 0 }];
  };
  const producer = { connect: async () => {}, disconnect: async () => {}, send };
  const connect = () =>
    ({ kafka: { producer: () => producer }, cut: () => {} }) as unknown as KafkaConnection;
  return { asked, sender: createSender(connect, 'accord.consents', () => {}) };
}

const tooLarge = () => Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE' });
const batchOf = (...subjects: string[]) => subjects.map((subject) => outbound(sampleEvent({ subject })));

test('of a batch that is refused for one event the others are sent one by one', async () => {
  const { asked, sender } = brokerThat((subjects) => (subjects.includes('b') ? tooLarge() : undefined));
  const events = batchOf('a', 'b', 'c');
  expect(await sender.send(events)).toMatchObject([{ id: events[1]?.event.id, hopeless: true }]);
  expect(asked).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
});

test('when the broker goes away meanwhile the rest waits for it together: one by one it would outlast the lease', async () => {
  const { asked, sender } = brokerThat((subjects) => {
    if (subjects.length > 1) return tooLarge();
    return subjects[0] === 'a' ? undefined : new Error('no connection');
  });
  const events = batchOf('a', 'b', 'c', 'd');
  const unsent = await sender.send(events);
  expect(unsent.map(({ id, hopeless }) => [id, hopeless])).toEqual(
    events.slice(1).map(({ event }) => [event.id, false]),
  );
  expect(asked).toEqual([['a', 'b', 'c', 'd'], ['a'], ['b']]);
});
