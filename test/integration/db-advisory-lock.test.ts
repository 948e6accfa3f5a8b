import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { acquireAdvisoryLock } from '#lib/db/advisory-lock.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { patience } from '../support/run/patience.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';

let target: TestDatabase;
beforeEach(async () => {
  target = await createTestDatabase();
});
afterEach(() => target.drop());

async function hold(onLost: () => void = () => {}) {
  const held = await acquireAdvisoryLock({ url: target.url, onLost });
  onTestFinished(() => held.release().catch(() => {}));
  return held;
}

async function ask(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: target.url });
  await client.connect();
  return (await client.query(text).finally(() => client.end())).rows;
}

/** Of this database: other tests hold locks in other databases of the same PostgreSQL. */
const advisoryLocks = `
  pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
  WHERE d.datname = current_database() AND l.locktype = 'advisory'`;

const endHolder = () => ask(`SELECT pg_terminate_backend(l.pid) FROM ${advisoryLocks} AND l.granted`);

async function holderSession(): Promise<unknown> {
  const rows = await ask(`SELECT l.pid FROM ${advisoryLocks} AND l.granted`);
  return rows[0]?.pid;
}

const refusal = () =>
  acquireAdvisoryLock({ url: target.url, onLost: () => {} }).catch((error: unknown) => error);

test('a second process on one database is refused, and told which one has it', async () => {
  await hold();
  const error = await refusal();
  expect(error).toBeInstanceOf(StartupError);
  expect(String(error)).toContain(`is in use by process ${process.pid} on `);
});

test('a database that was given free can be held again', async () => {
  await (await hold()).release();
  await hold();
});

test('two databases of one server do not get in each other’s way', async () => {
  await hold();
  const other = await createTestDatabase();
  const held = await acquireAdvisoryLock({ url: other.url, onLost: () => {} });
  await held.release();
  await other.drop();
});

test('a process whose connection breaks holds the database again', async () => {
  const lost = vi.fn();
  await hold(lost);
  const before = await holderSession();
  await endHolder();
  await vi.waitFor(async () => {
    const now = await holderSession();
    expect(now).toBeDefined();
    expect(now).not.toBe(before);
  }, 10_000);
  expect(String(await refusal())).toContain('is in use by');
  expect(lost).not.toHaveBeenCalled();
});

test('a process whose connection breaks without PostgreSQL noticing is no other process: it holds the database again', async () => {
  const network = await startNetwork();
  const lost = vi.fn();
  const held = await acquireAdvisoryLock({ url: network.url, onLost: lost });
  onTestFinished(() => held.release());
  const before = await holderSession();
  network.breakOnOurSide();
  await vi.waitFor(async () => {
    const now = await holderSession();
    expect(now).toBeDefined();
    expect(now).not.toBe(before);
  }, patience);
  expect(lost).not.toHaveBeenCalled();
});

/** Between a process and PostgreSQL; when it breaks, PostgreSQL goes on waiting for what comes next. */
async function startNetwork() {
  const { hostname, port } = new URL(target.url);
  const ours = new Set<Socket>();
  const all = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      all.add(socket);
      socket.on('error', () => {});
    }
    ours.add(near);
    far.pipe(near);
    near.on('data', (chunk) => far.write(chunk));
    near.on('end', () => far.end());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    for (const socket of all) socket.destroy();
    server.close();
  });
  const url = new URL(target.url);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: url.href,
    breakOnOurSide() {
      for (const socket of ours) socket.destroy();
    },
  };
}

test('a process that lost the database to another one is told so', async () => {
  const lost = vi.fn();
  await hold(lost);
  const thief = new pg.Client({ connectionString: target.url });
  await thief.connect();
  // Queued first, so the lock is its own the moment that the connection breaks.
  const stolen = thief.query('SELECT pg_advisory_lock(7205759404)');
  await vi.waitFor(
    async () => expect(await ask(`SELECT 1 FROM ${advisoryLocks} AND NOT l.granted`)).toHaveLength(1),
    patience,
  );
  await endHolder();
  await stolen;
  await vi.waitFor(() => expect(lost).toHaveBeenCalledOnce(), 10_000);
  await thief.end();
});
