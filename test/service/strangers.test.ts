import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { until } from '../support/run/until.ts';
import { createTestDatabase } from '../support/stores/postgres.ts';

const manyKeys = 'key=6000,user=6000,transaction=60,address=1';
let instance: TestInstance;
let token: string;
beforeAll(async () => {
  ({ instance, token } = await start({}));
});
afterAll(() => instance?.stop());

async function start(settings: Record<string, string>) {
  const started = await startTestInstance({ RATE_LIMITS: manyKeys, ...settings });
  return { instance: started, token: await signInAt(started) };
}

async function signInAt(at: Pick<TestInstance, 'fetch'>): Promise<string> {
  const fields = { client_id: 'accord', grant_type: 'password', username: 'operator', password: 'demo' };
  const response = await at.fetch('/auth', { method: 'POST', body: new URLSearchParams(fields) });
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Requests of an organisation, one after the other, until the test ends. @returns how to make one more. */
function serveOrganisation(at: Pick<TestInstance, 'fetch'> = instance, bearer = token) {
  const ask = async () =>
    (await at.fetch('/models', { headers: { Authorization: `Bearer ${bearer}` } })).status;
  let isOver = false;
  const asking = (async () => {
    while (!isOver) await ask();
  })().catch(() => {});
  onTestFinished(async () => {
    isOver = true;
    await asking;
  });
  return ask;
}

interface Asked {
  socket: Socket;
  /** All that came back until now. */
  said: string;
  isOver: boolean;
}

/** A stranger who tries keys. Linux answers at every address of 127.0.0.0/8. */
function tryKey({
  at = instance as { url: string },
  from = '127.0.0.9',
  headers = [] as string[],
  times = 1,
} = {}): Asked {
  const localAddress = from;
  const socket = connect({ port: Number(new URL(at.url).port), host: '127.0.0.1', localAddress });
  const asked: Asked = { socket, said: '', isOver: false };
  socket.on('data', (data) => {
    asked.said += data;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    asked.isOver = true;
  });
  const head = ['GET /models HTTP/1.1', 'Host: a', 'CM_KEY: acc_wrong', ...headers];
  socket.write(`${head.join('\r\n')}\r\n\r\n`.repeat(times));
  onTestFinished(() => void socket.destroy());
  return asked;
}
const tryKeys = (count: number, options: Parameters<typeof tryKey>[0] = {}) =>
  Array.from({ length: count }, () => tryKey(options));
const answersOf = ({ said }: Asked) => said.match(/HTTP\/1\.1 \d{3}/g) ?? [];
const waiting = (asked: readonly Asked[]) => asked.filter((each) => answersOf(each).length === 0);
/** Answered at once, because too many wait. */
const sentAway = (asked: readonly Asked[]) => asked.filter(({ said }) => /^Connection: close\r$/m.test(said));
const heldAtAll = async (at = instance) =>
  Number(/^accord_http_held_total (\d+)$/m.exec(await at.metrics())?.[1] ?? 0);

describe('a stranger with many connections', () => {
  it('waits for their own requests alone, while an organisation is answered, also at the same address', async () => {
    const ask = serveOrganisation();
    const before = await heldAtAll();
    const stranger = tryKeys(60, { from: '127.0.0.1' });
    await until(async () => expect((await heldAtAll()) - before).toBeGreaterThan(10));
    for (let count = 0; count < 5; count += 1) expect(await ask()).toBe(200);
    expect(waiting(stranger).length).toBeGreaterThan(0);
    await until(() => expect(waiting(stranger)).toHaveLength(0));
    expect(sentAway(stranger)).toHaveLength(0);
  });

  it('does not keep a stranger of another network waiting', async () => {
    serveOrganisation();
    const before = await heldAtAll();
    const stranger = tryKeys(60, { from: '127.0.0.10' });
    await until(async () => expect((await heldAtAll()) - before).toBeGreaterThan(20));
    const other = tryKey({ from: '127.0.0.11' });
    await until(() => expect(answersOf(other)).toHaveLength(1));
    expect(waiting(stranger).length).toBeGreaterThan(0);
  });

  it('does not keep a person waiting who answers a form at the same address', async () => {
    serveOrganisation();
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ subject: 'alice', layout: 'layout.001' });
    const created = await instance.fetch('/consents', { method: 'POST', headers, body });
    const { links } = (await created.json()) as { links: { form: string } };
    const before = await heldAtAll();
    const stranger = tryKeys(60, { from: '127.0.0.1' });
    await until(async () => expect((await heldAtAll()) - before).toBeGreaterThan(20));
    expect((await fetch(links.form)).status).toBe(200);
    expect(waiting(stranger).length).toBeGreaterThan(0);
  });

  it('holds 64 connections and no more; those that are given up make room', async () => {
    serveOrganisation();
    const first = tryKeys(200, { from: '127.0.0.12' });
    await until(() => expect(waiting(first).length).toBeLessThanOrEqual(64));
    expect(sentAway(first).length).toBeGreaterThan(0);
    for (const { socket } of first) socket.destroy();
    await until(async () => {
      const again = tryKey({ from: '127.0.0.12' });
      await until(() => expect(waiting([again])).toHaveLength(0));
      expect(sentAway([again])).toHaveLength(0);
    });
  });

  it('is one stranger, whatever X-Forwarded-For says, unless a trusted proxy says it', async () => {
    serveOrganisation();
    const named = (from: string, at = instance) =>
      Array.from({ length: 200 }, (_, number) =>
        tryKey({ at, from, headers: [`X-Forwarded-For: 203.0.113.${number}`] }),
      );
    const forged = named('127.0.0.13');
    await until(() => expect(sentAway(forged).length).toBeGreaterThan(0));

    const behind = await start({ TRUSTED_PROXIES: '127.0.0.13/32' });
    onTestFinished(() => behind.instance.stop());
    serveOrganisation(behind.instance, behind.token);
    const clients = named('127.0.0.13', behind.instance);
    await until(() => expect(waiting(clients)).toHaveLength(0));
    expect(sentAway(clients)).toHaveLength(0);
  });

  it('gets the answers of a connection in order, one after the other', async () => {
    serveOrganisation();
    const before = await heldAtAll();
    const asked = tryKey({ from: '127.0.0.14', times: 30 });
    await until(() => expect(answersOf(asked)).toHaveLength(30));
    expect((await heldAtAll()) - before).toBeGreaterThan(0);
  });
});

it('holds nothing back while no one else is served', async () => {
  const alone = await start({});
  onTestFinished(() => alone.instance.stop());
  // The sign-in counts as served for a second.
  await until(async () => {
    const before = await heldAtAll(alone.instance);
    for (let count = 0; count < 30; count += 1) {
      const asked = tryKey({ at: alone.instance, from: '127.0.0.1' });
      await until(() => expect(answersOf(asked)).toHaveLength(1));
    }
    expect(await heldAtAll(alone.instance)).toBe(before);
  });
});

it('holds nothing back with RATE_LIMITS=off', async () => {
  const unlimited = await start({ RATE_LIMITS: 'off' });
  onTestFinished(() => unlimited.instance.stop());
  serveOrganisation(unlimited.instance, unlimited.token);
  const asked = tryKeys(200, { at: unlimited.instance });
  await until(() => expect(waiting(asked)).toHaveLength(0));
  expect(sentAway(asked)).toHaveLength(0);
  expect(await heldAtAll(unlimited.instance)).toBe(0);
});

it('answers those who wait when the process stops', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const accord = startStandalone({
    DATABASE_URL: database.url,
    DATA_DIR: await temporaryFolder(),
    RATE_LIMITS: manyKeys,
  });
  const url = await accord.ready;
  const at = { url, fetch: (path: string, init?: RequestInit) => fetch(new URL(path, url), init) };
  serveOrganisation(at, await signInAt(at));
  const stranger = tryKeys(8, { at, times: 300 });
  await until(() => expect(waiting(stranger)).toHaveLength(0));
  expect(stranger.flatMap(answersOf).length).toBeLessThan(8 * 300);
  expect(await accord.stop()).toMatchObject({ code: 0 });
  await until(() => expect(stranger.every(({ isOver }) => isOver)).toBe(true));
  // The last answer ends the connection, which is not cut off.
  expect(sentAway(stranger)).toHaveLength(8);
});
