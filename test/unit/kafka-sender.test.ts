import { expect, test, vi } from 'vitest';
import type { KafkaConnection } from '#lib/events/kafka/kafka-client.ts';
import { createSender } from '#lib/events/kafka/sender.ts';
import { outbound, sampleEvent } from '../support/samples/sample-events.ts';

/** A broker that answers each send as the test says. */
function brokerThat(answer: (subjects: string[]) => Error | undefined) {
  const asked: string[][] = [];
  const send = async ({ messages }: { messages: { key: string }[] }) => {
    const subjects = messages.map(({ key }) => key);
    asked.push(subjects);
    const error = answer(subjects);
    if (error) throw error;
    return [{ partition: 0, errorCode: 0 }];
  };
  const producer = { connect: async () => {}, disconnect: async () => {}, send };
  const connect = () =>
    ({ kafka: { producer: () => producer }, cut: () => {} }) as unknown as KafkaConnection;
  return { asked, sender: createSender(connect, 'accord.consents') };
}

const tooLarge = () => Object.assign(new Error('too large'), { type: 'MESSAGE_TOO_LARGE' });
const batchOf = (...subjects: string[]) => subjects.map((subject) => outbound(sampleEvent({ subject })));

test('producers are not idempotent and require the acknowledgement of all replicas', async () => {
  const send = vi.fn(async () => []);
  const producer = vi.fn(() => ({ connect: async () => {}, disconnect: async () => {}, send }));
  const connect = () => ({ kafka: { producer }, cut: () => {} }) as unknown as KafkaConnection;
  expect(await createSender(connect, 'accord.consents').send(batchOf('a'))).toEqual([]);
  expect(producer).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ idempotent: false, maxInFlightRequests: 1, allowAutoTopicCreation: false }),
  );
  const [[options]] = producer.mock.calls as unknown as [[object]];
  expect(options).not.toHaveProperty('transactionalId');
  expect(send).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({
      topic: 'accord.consents',
      acks: -1,
      messages: [expect.objectContaining({ key: 'a' })],
    }),
  );
});

test('the events of a batch that is refused are sent one by one', async () => {
  const { asked, sender } = brokerThat((subjects) => (subjects.includes('b') ? tooLarge() : undefined));
  const events = batchOf('a', 'b', 'c');
  expect(await sender.send(events)).toMatchObject([{ id: events[1]?.event.id, permanent: true }]);
  expect(asked).toEqual([['a', 'b', 'c'], ['a'], ['b'], ['c']]);
});

test('an event with a refused timestamp (INVALID_TIMESTAMP) is sent again later', async () => {
  const misdated = () => Object.assign(new Error('out of range'), { type: 'INVALID_TIMESTAMP' });
  const { sender } = brokerThat(misdated);
  expect(await sender.send(batchOf('a', 'b'))).toMatchObject([{ permanent: false }, { permanent: false }]);
});

test('sending one by one stops at the first transient failure', async () => {
  const { asked, sender } = brokerThat((subjects) => {
    if (subjects.length > 1) return tooLarge();
    return subjects[0] === 'a' ? undefined : new Error('no connection');
  });
  const events = batchOf('a', 'b', 'c', 'd');
  const unsent = await sender.send(events);
  expect(unsent.map(({ id, permanent }) => [id, permanent])).toEqual(
    events.slice(1).map(({ event }) => [event.id, false]),
  );
  expect(asked).toEqual([['a', 'b', 'c', 'd'], ['a'], ['b']]);
});
