import { promises as dns } from 'node:dns';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createOutboundClient, type OutboundClient } from '#lib/outbound/outbound-client.ts';
import { resolveBySystem } from '#lib/outbound/targets.ts';
import { type LoopbackServer, startLoopbackServer } from '../support/network/loopback-server.ts';
import { ask } from './outbound/ask.ts';
import { embeddings } from './outbound/spellings.ts';

const opened: { close?(): Promise<void>; stop?(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await (each.stop ?? each.close)?.();
});

async function serve(address?: string): Promise<LoopbackServer> {
  const server = await startLoopbackServer(
    (_request, response) => response.end(),
    address ? { address } : {},
  );
  opened.push(server);
  return server;
}

/** A client whose name server says one thing after the other, the last one for ever. */
function clientOf(answers: string[][], allowedNetworks: string[] = []) {
  const asked: string[] = [];
  const client: OutboundClient = createOutboundClient({
    allowedNetworks,
    resolve: async (name) => {
      asked.push(name);
      return answers[Math.min(asked.length, answers.length) - 1] as string[];
    },
  });
  opened.push(client);
  return { client, asked };
}

describe('a name whose name server does not respond', () => {
  it('uses one thread for any number of requests, and is resolved again after a response', async () => {
    const answer = Promise.withResolvers<{ address: string; family: number }[]>();
    const lookup = vi.spyOn(dns, 'lookup').mockReturnValue(answer.promise as never);
    onTestFinished(() => lookup.mockRestore());
    const asked = Array.from({ length: 5 }, () => resolveBySystem('silent.example'));
    expect(lookup).toHaveBeenCalledTimes(1);
    answer.reject(new Error('EAI_AGAIN'));
    for (const each of await Promise.allSettled(asked)) expect(each.status).toBe('rejected');
    lookup.mockResolvedValue([{ address: '192.0.2.1', family: 4 }] as never);
    expect(await resolveBySystem('silent.example')).toEqual(['192.0.2.1']);
    expect(lookup).toHaveBeenCalledTimes(2);
  });
});

describe('a name chosen by an outsider', () => {
  it.each([
    ...[
      '127.0.0.1',
      '::1',
      '0.0.0.0',
      '::',
      '10.0.0.1',
      '169.254.169.254',
      'fd00:ec2::254',
      'fe80::1',
      'fe80::1%lo',
    ],
    ...embeddings('127.0.0.1'),
  ])('leads to nothing inside if it resolves to %s', async (address) => {
    const trap = await serve();
    const { client } = clientOf([[address]]);
    expect(await ask(client, `http://hook.example:${trap.port}/`)).toBe('refused: address');
    expect(trap.connections()).toBe(0);
  });

  it.each([
    '127.1',
    '2130706433',
    '0x7f000001',
    'localhost',
    '[::1]',
    '',
    ' 127.0.0.1',
    '127.0.0.1:80',
    'fe80::1%',
  ])('leads to nothing if a name server says “%s”, which is no address', async (address) => {
    const trap = await serve();
    const { client } = clientOf([[address]], ['127.0.0.0/8', '::/0']);
    expect(await ask(client, `http://hook.example:${trap.port}/`)).toBe('refused: address');
    expect(trap.connections()).toBe(0);
  });

  it('is called only at its allowed addresses', async () => {
    const trap = await serve('127.0.0.1');
    const { client } = clientOf([['127.0.0.1', '127.0.0.2', '10.0.0.1', '::1']], ['127.0.0.2/32']);
    // Nobody listens on the second address, and the next one in the list would be caught.
    expect(await ask(client, `http://hook.example:${trap.port}/`)).toBe('failed: connect');
    expect(trap.connections()).toBe(0);
  });

  it('falls back to its next address if the first does not respond', async () => {
    const server = await serve('127.0.0.2');
    const { client } = clientOf([['127.0.0.3', '127.0.0.2']], ['127.0.0.0/8']);
    expect(await ask(client, `http://hook.example:${server.port}/`)).toBe(200);
  });

  it('is resolved once per connection, so a change after the check has no effect', async () => {
    const trap = await serve('127.0.0.1');
    const { client, asked } = clientOf([['127.0.0.2'], ['127.0.0.1']], ['127.0.0.2/32']);
    expect(await ask(client, `http://flip.example:${trap.port}/`)).toBe('failed: connect');
    expect(asked).toEqual(['flip.example']);
    expect(await ask(client, `http://flip.example:${trap.port}/`)).toBe('refused: address');
    expect(trap.connections()).toBe(0);
  });

  it('stays safe however often its address changes', async () => {
    const trap = await serve('127.0.0.1');
    const answers = Array.from({ length: 50 }, (_, index) => [index % 2 ? '127.0.0.1' : '127.0.0.2']);
    const { client } = clientOf(answers, ['127.0.0.2/32']);
    const outcomes: (number | string)[] = [];
    for (const _ of answers) outcomes.push(await ask(client, `http://flip.example:${trap.port}/`));
    expect(new Set(outcomes)).toEqual(new Set(['failed: connect', 'refused: address']));
    expect(trap.connections()).toBe(0);
  });

  it('is checked again for each new connection', async () => {
    const server = await serve('127.0.0.2');
    const { client, asked } = clientOf([['127.0.0.2'], ['127.0.0.1']], ['127.0.0.2/32']);
    const url = `http://hook.example:${server.port}/`;
    expect([await ask(client, url), await ask(client, url)]).toEqual([200, 200]);
    expect([asked.length, server.connections()]).toEqual([1, 1]);
    const at = (other: string) => `http://hook.example:${server.port}${other}`;
    const outcomes = await Promise.all([ask(client, at('/a')), ask(client, at('/b'))]);
    expect(outcomes.sort()).toEqual([200, 'refused: address']);
  });

  it('is reported as not found if it has no address or does not exist', async () => {
    expect(await ask(clientOf([[]]).client, 'http://hook.example/')).toBe('failed: dns');
    const client = createOutboundClient({
      allowedNetworks: [],
      resolve: () => Promise.reject(Object.assign(new Error('queryA ESERVFAIL'), { code: 'ESERVFAIL' })),
    });
    opened.push(client);
    expect(await ask(client, 'http://hook.example/')).toBe('failed: dns');
  });

  it('is abandoned if the name server does not respond in time', async () => {
    const client = createOutboundClient({
      allowedNetworks: [],
      connectMs: 20,
      resolve: () => new Promise(() => {}),
    });
    opened.push(client);
    expect(await ask(client, 'https://hook.example/')).toBe('failed: timeout');
  });
});
