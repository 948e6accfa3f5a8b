import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { testReader } from '../support/event-bus-suite.ts';
import { makeKafkaBus } from '../support/kafka.ts';
import { keyRevoked, outbound } from '../support/sample-events.ts';

/** Takes connections and answers nothing, as a broker that hangs. */
async function startSilentBroker(): Promise<{ address: string; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.resume().once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

test('a bus whose broker answers nothing stops in a few seconds, and holds no connection after that', async () => {
  const { address, sockets } = await startSilentBroker();
  const bus = makeKafkaBus({ address });
  bus.subscribe('accord.consents', testReader(), async () => {});
  bus.subscribe('accord.keys', testReader({ shared: false }), async () => {});
  bus.start();
  const sent = [outbound(), keyRevoked()];
  const publishing = bus.publish(sent);
  await expect.poll(() => sockets.size).toBe(4);
  const began = performance.now();
  await bus.stop();
  expect(performance.now() - began).toBeLessThan(9_000);
  expect((await publishing).map(({ id }) => id).sort()).toEqual(sent.map(({ event }) => event.id).sort());
  await expect.poll(() => sockets.size).toBe(0);
});
