import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type Binaries, processOptions } from '#lib/db/embedded/binaries.ts';
import { type DataFolder, explainFileError, explainOutput } from '#lib/db/embedded/data-folder.ts';
import { StartupError } from '#lib/errors/fail.ts';

/**
 * Settings of a small PostgreSQL beside one Accord process, with full durability. Passed on the command line
 * at each start, so that they change with the version of Accord.
 */
export const serverSettings: Record<string, string> = {
  listen_addresses: '127.0.0.1',
  // Socket paths are limited to 107 bytes, which a home folder may exceed.
  unix_socket_directories: '',
  timezone: 'UTC',
  log_timezone: 'UTC',

  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_level: 'minimal',
  max_wal_senders: '0',
  // Limits the recovery after a crash.
  max_wal_size: '256MB',
  min_wal_size: '64MB',

  max_connections: '60',
  shared_buffers: '64MB',
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  effective_cache_size: '512MB',
  io_method: 'sync',
  max_worker_processes: '2',
  max_parallel_workers: '0',
  max_logical_replication_workers: '0',
  autovacuum_max_workers: '2',
  // The first statistics replace plans that were made while tables were nearly empty (ADR 14).
  autovacuum_naptime: '10s',
  jit: 'off',

  // Messages below LOG, and details, quote values; answers must not get into logs (docs/security.md).
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/** Settings as command line arguments of `postgres`. */
export function settingArguments(settings: Record<string, string>): string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** A database on disk and its password. */
export interface Cluster {
  /** PostgreSQL's data directory. */
  files: string;
  password: string;
}

/**
 * The name of both role and database. The role is not a superuser, so that SQL injection cannot reach the
 * machine.
 */
export const owner = 'accord';

/** Superusers and sockets are refused; single-user mode remains for those who may read the files. */
const hostRules = `host ${owner} ${owner} 127.0.0.1/32 scram-sha-256\n`;

/** The built-in locale sorts and folds case the same on every machine, unlike the C library's. */
export const initialSettings = [
  '--encoding=UTF8',
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
];

/**
 * Opens the database of a data folder, or creates it. It is created in a temporary folder and then renamed,
 * so that an interrupted start leaves no partial database.
 */
export async function openCluster(folder: DataFolder, binaries: Binaries): Promise<Cluster> {
  try {
    await removeUnfinished(folder);
    const existing = await readCluster(folder, binaries);
    if (existing) return existing;
    await createCluster(folder, binaries);
    const created = await readCluster(folder, binaries);
    if (!created) throw new StartupError(`The new database in ${folder.path} has disappeared.`);
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
      `The data in ${folder.path} (DATA_DIR) belong to PostgreSQL ${major.trim()}, and this is PostgreSQL ` +
        `${ours}: start the version of Accord that created them, or set another DATA_DIR.`,
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

/** A random password of 256 bits needs no key stretching, which would slow down each new connection. */
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
  child.stdin.on('error', () => {}); // It may exit without reading; the exit code is checked.
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

/** Removes what an interrupted start left. Call only with the folder locked. */
async function removeUnfinished({ path: folder }: DataFolder): Promise<void> {
  const unfinished = (await readdir(folder)).filter((name) => /^postgresql.*\.new-/.test(name));
  // An initdb may still run there; the next start then removes the rest.
  for (const name of unfinished)
    await rm(path.join(folder, name), { recursive: true, force: true, maxRetries: 3 }).catch(() => {});
}
