import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createRandom } from '../random.ts';
import { startOwnerProxy } from './owner-proxy.ts';

const sid = (letter: string) => `/federation/submissions/${letter.repeat(22)}`;

/** An owner that answers each request with its number and its address. */
async function startBoth() {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url}`);
    response.end(`${heard.length} ${request.url}`);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const target = (server.address() as AddressInfo).port;
  const proxy = await startOwnerProxy({ target, random: createRandom(1) });
  onTestFinished(async () => {
    await proxy.close();
    server.closeAllConnections();
    server.close();
  });
  const send = async (method: string, path: string, body = '{}') => {
    const response = await fetch(`${proxy.url}${path}`, { method, body });
    return { status: response.status, text: await response.text() };
  };
  return { heard, proxy, send, put: (path: string) => send('PUT', path) };
}

it('the owner proxy forwards requests and replies unchanged', async () => {
  const { heard, put } = await startBoth();
  expect(await put(sid('a'))).toEqual({ status: 200, text: `1 ${sid('a')}` });
  expect(heard).toEqual([`PUT ${sid('a')}`]);
});

it('the owner proxy forwards nothing while it plays down, unavailable, forbidden or garbled', async () => {
  const { heard, proxy, put } = await startBoth();
  proxy.behave('down');
  await expect(put(sid('a'))).rejects.toThrow();
  const statuses: number[] = [];
  for (const manner of ['unavailable', 'forbidden', 'garbage'] as const) {
    proxy.behave(manner);
    statuses.push((await put(sid('a'))).status);
  }
  expect(statuses).toEqual([503, 403, 200]);
  expect(heard).toEqual([]);
  expect(proxy.treated('forbidden')).toBe(1);
});

it('the owner proxy loses a reply after the work is done, and delivers a request twice', async () => {
  const { heard, proxy, put } = await startBoth();
  proxy.behave('reply lost');
  await expect(put(sid('a'))).rejects.toThrow();
  expect(heard).toHaveLength(1);
  proxy.behave('twice');
  expect((await put(sid('b'))).text).toContain(sid('b'));
  expect(heard).toHaveLength(3);
});

it('the owner proxy holds a reply until it is no longer slow', async () => {
  const { heard, proxy, put } = await startBoth();
  proxy.behave('slow');
  let isThere = false;
  const reply = put(sid('a')).then((answered) => {
    isThere = true;
    return answered;
  });
  await expect.poll(() => heard.length).toBe(1);
  expect(isThere).toBe(false);
  proxy.behave('well');
  expect((await reply).status).toBe(200);
});

it('the owner proxy answers a decision with the reply to another decision of equal content', async () => {
  const { heard, proxy, send } = await startBoth();
  const decide = (letter: string, decision: string) => send('POST', `${sid(letter)}/decision`, decision);
  await decide('a', 'commit');
  proxy.behave('mixed up');
  expect((await decide('b', 'commit')).text).toBe(`1 ${sid('a')}/decision`);
  expect((await decide('b', 'rollback')).text).toBe(`2 ${sid('b')}/decision`);
  expect(heard).toHaveLength(2);
});
