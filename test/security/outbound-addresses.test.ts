import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOutboundClient, type OutboundClient } from '#lib/outbound/outbound-client.ts';
import { type LoopbackServer, startLoopbackServer } from '../support/network/loopback-server.ts';
import { ask } from './outbound/ask.ts';
import { corpus } from './outbound/corpus.ts';
import { spellings } from './outbound/spellings.ts';

let trap: LoopbackServer;
let strict: OutboundClient;
let bySystem: OutboundClient;
let lenient: OutboundClient;
beforeAll(async () => {
  trap = await startLoopbackServer((_request, response) => response.end('caught'));
  strict = createOutboundClient({ allowedNetworks: [], resolve: async () => ['127.0.0.1'] });
  bySystem = createOutboundClient({ allowedNetworks: [] });
  lenient = createOutboundClient({ allowedNetworks: ['127.0.0.0/8', '::ffff:0:0/96'] });
});
afterAll(async () => {
  await strict.stop();
  await bySystem.stop();
  await lenient.stop();
  await trap.close();
});

describe('an address chosen by an outsider', () => {
  it('reaches no internal network in any of hundreds of notations', async () => {
    const traps = corpus(trap.port);
    expect(traps.length).toBeGreaterThanOrEqual(300);
    const outcomes = await Promise.all(
      traps.map(async ([url, reason]) => ({ url, reason, outcome: await ask(strict, url) })),
    );
    expect(outcomes.filter(({ reason, outcome }) => outcome !== `refused: ${reason}`)).toEqual([]);
    expect(trap.connections()).toBe(0);
  });

  it('is blocked if the machine resolves it to loopback', async () => {
    const names = [
      'localhost',
      'LOCALHOST',
      'LocalHost',
      'lo\u00adcalhost',
      '\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54',
    ];
    const outcomes = await Promise.all(names.map((name) => ask(bySystem, `http://${name}:${trap.port}/`)));
    expect(outcomes).toEqual(names.map(() => 'refused: address'));
    expect(trap.connections()).toBe(0);
  });

  it('is called if the operator allows its network, which proves the trap', async () => {
    const hosts = [...spellings('127.0.0.1'), '[::ffff:127.0.0.1]', 'localhost'];
    const before = trap.requests();
    const outcomes = await Promise.all(hosts.map((host) => ask(lenient, `http://${host}:${trap.port}/`)));
    expect(outcomes).toEqual(hosts.map(() => 200));
    expect(trap.requests() - before).toBe(hosts.length);
  });
});

describe('a redirect', () => {
  it.each([300, 301, 302, 303, 304, 307, 308, 399])(
    '%i is not followed, wherever it leads',
    async (status) => {
      const origin = await startLoopbackServer((_request, response) =>
        response.writeHead(status, { Location: `http://127.0.0.1:${trap.port}/` }).end(),
      );
      const before = trap.connections();
      expect(await ask(lenient, `http://127.0.0.1:${origin.port}/`)).toBe('refused: redirect');
      expect(origin.requests()).toBe(1);
      expect(trap.connections()).toBe(before);
      await origin.close();
    },
  );
});
