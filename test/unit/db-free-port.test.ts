import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { freePort } from '#lib/db/embedded/postmaster.ts';

it('a port is given once, can be listened at, and is none that outgoing connections get', async () => {
  const ports = await Promise.all(Array.from({ length: 200 }, freePort));
  expect(new Set(ports).size).toBe(200);
  expect(Math.max(...ports)).toBeLessThan(32_768);
  const server = createServer();
  await new Promise<void>((done, reject) =>
    server.once('error', reject).listen(ports[0], '127.0.0.1', () => done()),
  );
  await new Promise((done) => server.close(done));
});

it('a port stays reserved while its process lives, so that no other process is given it', async () => {
  const port = await freePort();
  const other = createSocket('udp4');
  const failed = once(other, 'error');
  other.bind({ port, address: '127.0.0.1', exclusive: true });
  expect(await failed).toMatchObject([{ code: 'EADDRINUSE' }]);
  other.close();
});
