import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadSecrets } from '#lib/config/secrets.ts';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { drawApiKey } from '../../services/auth/domain/api-keys.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { type StandaloneProcess, startStandalone } from '../support/instances/standalone-process.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { outbound } from '../support/samples/sample-events.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';
import { startSilentBroker } from '../support/stores/silent-broker.ts';

const nobody = 'http://127.0.0.1:9';
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

function run(service: string, settings: Record<string, string>): StandaloneProcess {
  const program = path.join(import.meta.dirname, '..', '..', 'services', service, 'main.ts');
  const running = startStandalone(settings, program);
  onTestFinished(async () => void (await running.kill()));
  return running;
}

async function makeSecrets(): Promise<string> {
  const folder = await temporaryFolder();
  const callers = ['auth', 'forms', 'transactions', 'peers', 'webhooks', 'console'];
  await loadSecrets({ folder, callers, generate: true });
  return folder;
}

/**
 * Settings with which every service starts; Kafka and Redis are not there, and neither are the other
 * services.
 */
async function settingsFor(secretsFolder: string): Promise<Record<string, string>> {
  return {
    BASE_URL: 'http://localhost:1',
    DATABASE_URL: database.url,
    SECRETS_DIR: secretsFolder,
    KAFKA_BROKERS: '127.0.0.1:9',
    REDIS_URL: 'redis://127.0.0.1:9',
    STOP_DELAY: '0',
    AUTH_INTERNAL_URL: nobody,
    FORMS_INTERNAL_URL: nobody,
    TRANSACTIONS_INTERNAL_URL: nobody,
    WEBHOOKS_INTERNAL_URL: nobody,
    INTERNAL_PORT: String(await freePort()),
  };
}

describe('a service as a process of its own', () => {
  it.each([
    ['auth', []],
    ['transactions', ['AUTH_INTERNAL_URL', 'FORMS_INTERNAL_URL']],
  ])('%s reports all missing settings together', async (service, neighbours) => {
    const { code, output, errors } = await run(service, { DEMO: 'true', INTERNAL_PORT: 'x' }).ended;
    expect({ code, output }).toEqual({ code: 1, output: '' });
    const needed = [
      'BASE_URL',
      'DATABASE_URL',
      'DEMO',
      'INTERNAL_PORT',
      'KAFKA_BROKERS',
      'REDIS_URL',
      'SECRETS_DIR',
    ];
    const [, ...faults] = errors.trimEnd().split('\n');
    expect(faults.map((fault) => fault.trim().split(':')[0]).sort()).toEqual(
      [...neighbours, ...needed].sort(),
    );
  });

  it('refuses demo mode', async () => {
    const { code, errors } = await run('auth', { ...(await settingsFor('/')), DEMO: 'true' }).ended;
    expect([code, errors]).toEqual([1, expect.stringContaining('DEMO: allowed in standalone mode only')]);
  });

  it('does not start without its secrets and generates none', async () => {
    const folder = await temporaryFolder();
    const { code, errors } = await run('transactions', await settingsFor(folder)).ended;
    expect(code).toBe(1);
    expect(errors.split('\n').map((line) => line.trim())).toEqual([
      `These secrets in ${folder} (SECRETS_DIR) cannot be used:`,
      'transaction-token: is missing',
      'document-sealing: is missing',
      'erasure-pepper: is missing',
      'instance-signing: is missing',
      'instance-sealing: is missing',
      'internal-transactions: is missing',
      'internal-peers: is missing',
      `Create the missing ones with: npm run secrets -- ${folder}`,
      '',
    ]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('does not start with short or example secrets', async () => {
    const folder = await makeSecrets();
    await writeFile(path.join(folder, 'transaction-token'), 'short');
    await writeFile(path.join(folder, 'internal-transactions'), 'change-me-change-me-change-me-change-me');
    const { code, errors } = await run('transactions', await settingsFor(folder)).ended;
    expect(code).toBe(1);
    expect(errors).toContain('transaction-token, entry 1: is 5 bytes long');
    expect(errors).toContain('internal-transactions, entry 1: looks like an example');
  });

  it('at an internal port that is taken says so in one sentence', async () => {
    const settings = await settingsFor(await makeSecrets());
    const first = run('auth', settings);
    await first.ready;
    const { code, errors } = await run('auth', settings).ended;
    expect(code).toBe(1);
    expect(errors).toBe(
      `Port ${settings.INTERNAL_PORT} on 127.0.0.1 is in use; set INTERNAL_PORT to a free one (INTERNAL_PORT=0 finds one).\n`,
    );
  });

  it('is ready without Kafka, Redis and other services, logs that, and exits with 0', async () => {
    const settings = await settingsFor(await makeSecrets());
    const transactions = run('transactions', settings);
    const url = await transactions.ready;
    const internal = `http://127.0.0.1:${settings.INTERNAL_PORT}`;
    const kept = await Promise.all([fetch(`${internal}/readyz`), fetch(`${url}/user`)]);
    // Longer than routers and other services keep a connection that is idle.
    for (const { headers } of kept) expect(headers.get('keep-alive')).toBe('timeout=75');
    expect(kept[0]?.status).toBe(200);
    const refused = await fetch(`${url}/transactions`, { headers: { Authorization: 'Bearer x' } });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.json()).toMatchObject({ type: 'http://localhost:1/docs/problems/unavailable' });
    expect((await fetch(`${url}/readyz`)).status, 'probes are on the internal port alone').toBe(404);
    expect((await transactions.stop()).code).toBe(0);
  });

  it('stops within 10 seconds while Kafka hangs', async () => {
    const broker = await startSilentBroker();
    const settings = { ...(await settingsFor(await makeSecrets())), KAFKA_BROKERS: broker.address };
    const transactions = run('transactions', settings);
    await transactions.ready;
    const reading = broker.connections();
    const { topic, key, event } = outbound();
    await runInDatabase(
      { databaseUrl: database.url },
      'INSERT INTO transactions.outbox (event_id, topic, key, event) VALUES ($1, $2, $3, $4)',
      [event.id, topic, key, event],
    );
    await expect.poll(() => broker.connections() > reading).toBe(true);
    const began = performance.now();
    expect((await transactions.stop()).code).toBe(0);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('is alive and not ready until its schema is migrated', async () => {
    const settings = await settingsFor(await makeSecrets());
    const [first] = await rowsOf<{ version: number }>(
      { databaseUrl: database.url },
      'DELETE FROM peers.migrations AS m WHERE m.version = (SELECT max(version) FROM peers.migrations) RETURNING *',
    );
    const probe = (name: string) =>
      fetch(`http://127.0.0.1:${settings.INTERNAL_PORT}/${name}`).then(
        ({ status }) => status,
        () => 0,
      );
    const impatient = run('peers', settings);
    await expect.poll(() => probe('livez'), { timeout: 15_000 }).toBe(200);
    expect(await probe('readyz')).toBe(503);
    expect((await impatient.stop()).code, 'is told to stop while it waits').toBe(0);
    const patient = run('peers', settings);
    await expect.poll(() => probe('livez'), { timeout: 15_000 }).toBe(200);
    await runInDatabase(
      { databaseUrl: database.url },
      'INSERT INTO peers.migrations SELECT * FROM json_populate_record(NULL::peers.migrations, $1)',
      [JSON.stringify(first)],
    );
    await patient.ready;
    expect(await probe('readyz')).toBe(200);
  });

  it('without a queue rejects excess requests after a pause, and then works as before', async () => {
    const limits = { MAX_EVENT_LOOP_DELAY: '100', MAX_QUEUE_WAIT: '0' };
    const settings = { ...(await settingsFor(await makeSecrets())), ...limits };
    const auth = run('auth', settings);
    const url = await auth.ready;
    const agent = new Agent({ keepAlive: true });
    onTestFinished(() => agent.destroy());
    // PostgreSQL is asked for each of these keys, and knows none.
    const send = () => {
      const sent = get(`${url}/user`, { agent, headers: { CM_KEY: drawApiKey(randomUUID()) } });
      const answer = once(sent, 'response') as Promise<[IncomingMessage]>;
      return { sent: once(sent, 'finish'), answer: answer.then(([each]) => each.resume()) };
    };
    const statusesOf = async (requests: ReturnType<typeof send>[]) =>
      (await Promise.all(requests.map(({ answer }) => answer))).map(({ statusCode }) => statusCode);
    const many = () => Array.from({ length: 40 }, send);
    const isCalm = () => expect.poll(async () => new Set(await statusesOf(many()))).toEqual(new Set([401]));
    await isCalm();
    auth.child.kill('SIGSTOP');
    await expect.poll(() => readFile(`/proc/${auth.child.pid}/stat`, 'utf8')).toMatch(/\) T /);
    const piledUp = many();
    await Promise.all(piledUp.map(({ sent }) => sent));
    // How long it stands still is what it has to notice.
    await wait(500);
    auth.child.kill('SIGCONT');
    const refused = (await Promise.all(piledUp.map(({ answer }) => answer))).filter(
      ({ statusCode }) => statusCode === 503,
    );
    expect(await statusesOf(piledUp)).toContain(401);
    expect(refused.length).toBeGreaterThan(20);
    for (const { headers } of refused) expect(headers['retry-after']).toMatch(/^[123]$/);
    await isCalm();
  });

  it('is alive but not ready while PostgreSQL does not respond', async () => {
    const own = await createTestDatabase();
    onTestFinished(() => own.drop());
    const settings = await settingsFor(await makeSecrets());
    settings.DATABASE_URL = own.url;
    await run('auth', settings).ready;
    const probe = async (name: string) =>
      (await fetch(`http://127.0.0.1:${settings.INTERNAL_PORT}/${name}`)).status;
    expect(await probe('readyz')).toBe(200);
    await own.drop();
    await expect.poll(() => probe('readyz'), { timeout: 10_000 }).toBe(503);
    expect(await probe('livez')).toBe(200);
  });
});
