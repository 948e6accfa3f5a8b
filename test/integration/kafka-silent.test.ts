import { expect, test } from 'vitest';
import { keyRevoked, outbound } from '../support/samples/sample-events.ts';
import { testReader } from '../support/stores/event-bus-suite.ts';
import { createTestKafkaBus } from '../support/stores/kafka-bus.ts';
import { startSilentBroker } from '../support/stores/silent-broker.ts';

test('a topic that accepts nothing is paused; other topics are not', async () => {
  const bus = createTestKafkaBus({ address: '127.0.0.1:1' });
  expect(bus.pausedTopics()).toEqual([]);
  expect(await bus.publish([outbound()])).toMatchObject([{ permanent: false }]);
  expect(bus.pausedTopics()).toEqual(['accord.consents']);
  await bus.stop();
});

test('a bus whose broker answers nothing stops in a few seconds, and holds no connection after that', async () => {
  const { address, connections } = await startSilentBroker();
  const bus = createTestKafkaBus({ address });
  bus.subscribe('accord.consents', testReader(), async () => {});
  bus.subscribe('accord.keys', testReader({ shared: false }), async () => {});
  bus.start();
  const sent = [outbound(), keyRevoked()];
  const publishing = bus.publish(sent);
  await expect.poll(connections).toBe(4);
  const began = performance.now();
  await bus.stop();
  expect(performance.now() - began).toBeLessThan(9_000);
  expect((await publishing).map(({ id }) => id).sort()).toEqual(sent.map(({ event }) => event.id).sort());
  await expect.poll(connections).toBe(0);
});
