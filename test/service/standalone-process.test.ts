import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findRunningPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { createTestDatabase, type TestDatabase } from '../support/stores/postgres.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.drop());

/** Starts Accord for one test. The database is given where the embedded one is not what the test is about. */
function start(settings: Record<string, string>) {
  const accord = startStandalone(settings);
  onTestFinished(async () => void (await accord.kill()));
  return accord;
}

const folder = async () => path.join(await temporaryFolder(), 'data');

describe('a start', () => {
  it('prints its URL when it is ready; SIGTERM ends it with exit 0', async () => {
    const accord = start({ DATABASE_URL: database.url, DATA_DIR: await folder() });
    const url = await accord.ready;
    for (const probe of ['/readyz', '/livez']) expect((await fetch(url + probe)).status, probe).toBe(200);
    const { code, output } = await accord.stop();
    expect(code).toBe(0);
    expect(output.trimEnd().split('\n').at(-1)).toBe(`Accord is ready: ${url}`);
  });

  it('ends with exit 0 on Ctrl-C, too', async () => {
    const fresh = await createTestDatabase();
    onTestFinished(() => fresh.drop());
    const accord = start({ DATABASE_URL: fresh.url, DATA_DIR: await folder() });
    await accord.ready;
    accord.child.kill('SIGINT');
    expect((await accord.ended).code).toBe(0);
  });

  it('with faulty settings names all of them at once, and no password', async () => {
    const { code, output, errors } = await start({
      PORT: 'many',
      BASE_URL: 'https://consent.example.org/path',
      RATE_LIMITS: 'few',
      INSTANCE_LANGUAGE: '!',
      DEMO: 'true',
      HOST: '0.0.0.0',
      KAFKA_BROKERS: 'localhost',
      DATABASE_URL: 'postgresql://accord:hunter2@localhost:port/accord',
    }).ended;
    expect({ code, output }).toEqual({ code: 1, output: '' });
    const [head, ...faults] = errors.trimEnd().split('\n');
    expect(head).toBe('These settings are not valid:');
    const named = faults.map((fault) => fault.trim().split(':')[0]);
    const wanted = [
      'BASE_URL',
      'DATABASE_URL',
      'DEMO',
      'INSTANCE_LANGUAGE',
      'KAFKA_BROKERS',
      'PORT',
      'RATE_LIMITS',
    ];
    expect(named.sort()).toEqual(wanted);
    expect(errors).not.toContain('hunter2');
  });

  it('at a port that is taken says so in one sentence', async () => {
    const taken = createServer();
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done));
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as { port: number };
    const { code, output, errors } = await start({ PORT: String(port), DATA_DIR: await folder() }).ended;
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toBe(`Port ${port} on 127.0.0.1 is in use; set PORT to a free one (PORT=0 finds one).\n`);
  });

  it('on a data folder in use names the process that uses it, and does not disturb it', async () => {
    const DATA_DIR = await folder();
    const first = start({ DATA_DIR });
    const url = await first.ready;
    const { code, output, errors } = await start({ DATA_DIR }).ended;
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toBe(
      `The data folder ${DATA_DIR} (DATA_DIR) is in use by the process ${first.child.pid}: stop it first, or set another DATA_DIR.\n`,
    );
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  }, 60_000);

  it('on a data folder of an unreleased commit says so in one sentence that names the folder', async () => {
    const DATA_DIR = await folder();
    const first = start({ DATA_DIR });
    await first.ready;
    const databaseUrl = (await findRunningPostgres(DATA_DIR)) as string;
    await runInDatabase({ databaseUrl }, "UPDATE transactions.migrations SET checksum = repeat('0', 64)");
    await first.stop();
    const { code, output, errors } = await start({ DATA_DIR }).ended;
    expect({ code, output }).toEqual({ code: 1, output: '' });
    expect(errors).toBe(
      `The database in ${DATA_DIR} was made by an unreleased commit of Accord and cannot be changed into today's: start with an empty one (another DATA_DIR).\n`,
    );
  }, 60_000);
});
