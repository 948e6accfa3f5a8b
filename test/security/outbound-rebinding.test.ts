import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { createUrlCheck } from '#lib/outbound/targets.ts';
import { startNameServer } from '../support/network/name-server.ts';

/** A server on this machine that nobody outside may reach. @returns its port, and how often it was called. */
async function startTrap() {
  let calls = 0;
  const server = createServer((_request, response) => {
    calls += 1;
    response.end();
  });
  server.on('connection', () => {
    calls += 1;
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { port: (server.address() as { port: number }).port, calls: () => calls };
}

async function startServer(addresses: readonly string[]) {
  const names = await startNameServer(addresses);
  onTestFinished(() => names.close());
  return names;
}

describe('a name server that returns a public address first and then a private one', () => {
  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.1.1'])(
    'does not have %s called that a check has let through',
    async (rebound) => {
      const trap = await startTrap();
      const names = await startServer(['93.184.215.14', rebound]);
      const url = `http://rebinding.example:${trap.port}/`;
      const check = createUrlCheck({ allowedNetworks: [], resolve: names.resolve });
      expect(await check(url)).toBeUndefined();
      const client = createOutboundClient({ allowedNetworks: [], resolve: names.resolve });
      onTestFinished(() => client.stop());
      for (const _ of [1, 2, 3])
        await expect(client.request({ method: 'POST', url, headers: {} })).rejects.toMatchObject({
          name: 'OutboundRefused',
          reason: 'address',
        });
      expect(names.asked()).toBe(4);
      expect(trap.calls()).toBe(0);
    },
  );

  it('is asked once per connection: the checked address is the one that is called', async () => {
    const trap = await startTrap();
    const names = await startServer(['127.0.0.1', '10.0.0.1']);
    const client = createOutboundClient({ allowedNetworks: ['127.0.0.0/8'], resolve: names.resolve });
    onTestFinished(() => client.stop());
    const url = `http://rebinding.example:${trap.port}/`;
    expect((await client.request({ method: 'GET', url, headers: {} })).status).toBe(200);
    expect(names.asked()).toBe(1);
  });
});
