import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { processOptions } from '#lib/db/embedded/account.ts';
import type { Binaries } from '#lib/db/embedded/binaries.ts';
import type { DataFolder } from '#lib/db/embedded/data-folder.ts';
import { explainFileError, explainOutput } from '#lib/db/embedded/explain-file-error.ts';
import { StartupError } from '#lib/errors/fail.ts';

/** A database on disk, and what opens it. */
export interface Cluster {
  /** PostgreSQL's own folder. */
  files: string;
  password: string;
}

/** Role and database are the same word; the role is no superuser, so that no injected SQL could reach the machine. */
export const owner = 'accord';

/** Superusers and sockets are shut out: single-user mode remains for whoever may read the files anyway. */
const hostRules = `host ${owner} ${owner} 127.0.0.1/32 scram-sha-256\n`;

/** The builtin locale sorts and folds case alike on every machine; the C library's is not asked. */
export const initialSettings = [
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/**
 * Opens the database of a data folder, after making it if there is none. It is made in a folder beside and then renamed,
 * so that a start that was cut off leaves nothing half-made.
 */
export async function openCluster(folder: DataFolder, binaries: Binaries): Promise<Cluster> {
  try {
    await removeUnfinished(folder);
    const existing = await readCluster(folder, binaries);
    if (existing) return existing;
    await createCluster(folder, binaries);
    const created = await readCluster(folder, binaries);
    if (!created) throw new StartupError(`The database in ${folder.path} has vanished while it was made.`);
    return created;
  } catch (error) {
    throw explainFileError(error, folder.path);
  }
}

async function readCluster(folder: DataFolder, binaries: Binaries): Promise<Cluster | undefined> {
  const files = path.join(folder.database, 'data');
  const major = await readFile(path.join(files, 'PG_VERSION'), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (major === undefined) return undefined;
  const ours = binaries.version.split('.')[0];
  if (major.trim() !== ours)
    throw new StartupError(
      `The data in ${folder.path} (DATA_DIR) were made by PostgreSQL ${major.trim()}, and this is PostgreSQL ` +
        `${ours}: start the version of Accord that made them, or name another folder.`,
    );
  return { files, password: (await readFile(path.join(folder.database, 'password'), 'utf8')).trim() };
}

async function createCluster(folder: DataFolder, binaries: Binaries): Promise<void> {
  const work = await mkdtemp(`${folder.database}.new-`);
  try {
    if (folder.account) await chown(work, folder.account.uid, folder.account.gid);
    await fillCluster(work, folder, binaries);
    await rename(work, folder.database);
    await syncFolder(folder.path);
  } catch (error) {
    await rm(work, { recursive: true, force: true }).catch(() => {});
    throw error;
  }
}

async function fillCluster(work: string, folder: DataFolder, binaries: Binaries): Promise<void> {
  const files = path.join(work, 'data');
  const password = randomBytes(32).toString('base64url');
  const { endWithParent, initdb, postgres } = binaries;
  const options = ['-D', files, '-U', 'postgres', '--auth=reject', ...initialSettings];
  await runToEnd(folder, [...endWithParent, initdb, ...options]);
  const singleUser = [
    '--single',
    '-D',
    files,
    '-c',
    'exit_on_error=on',
    '-c',
    'log_checkpoints=off',
    'postgres',
  ];
  await runToEnd(folder, [...endWithParent, postgres, ...singleUser], `${createOwner(password)}\n`);
  await writeDurably(path.join(files, 'pg_hba.conf'), hostRules, folder);
  await writeDurably(path.join(work, 'password'), `${password}\n`, folder);
}

/** A password of 256 random bits needs no stretching, which would cost time on each new connection. */
function createOwner(password: string): string {
  return [
    'SET scram_iterations = 1',
    `CREATE ROLE ${owner} LOGIN PASSWORD '${password}'`,
    `CREATE DATABASE ${owner} OWNER ${owner}`,
  ].join('\n');
}

async function runToEnd(folder: DataFolder, command: string[], input = ''): Promise<void> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    ...processOptions(folder.account),
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stdin.on('error', () => {}); // It may end without reading; its exit code tells.
  child.stdin.end(input);
  const [output, code] = await Promise.all([text(child.stderr), exitCode(child)]);
  if (code !== 0 || /^.*(ERROR|FATAL|PANIC):/m.test(output)) throw explainOutput(output, folder.path);
}

function exitCode(child: ChildProcess): Promise<number | null> {
  return new Promise((done, reject) => {
    child.once('error', reject);
    child.once('close', done);
  });
}

async function writeDurably(file: string, content: string, { account }: DataFolder): Promise<void> {
  const handle = await open(file, 'w', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(file, 0o600);
  if (account) await chown(file, account.uid, account.gid);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

/** What a killed start left; only under the lock of the folder. */
async function removeUnfinished({ path: folder }: DataFolder): Promise<void> {
  const unfinished = (await readdir(folder)).filter((name) => /^postgresql.*\.new-/.test(name));
  // Its initdb may still be at work there: then the next start gets the rest.
  for (const name of unfinished)
    await rm(path.join(folder, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
}
