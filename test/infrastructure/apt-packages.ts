import { existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execute, findProgram } from './programs.ts';

/** The machine's own lists of packages, which are there unless nobody has ever run `apt-get update`. */
const ownLists = '/var/lib/apt/lists';

/**
 * Downloads packages of Debian or Ubuntu with all that they need and this machine has not, and unpacks them
 * into a folder: nothing is installed, and no rights are needed.
 */
export async function unpackAptPackages(packages: readonly string[], into: string): Promise<void> {
  if (!findProgram('apt-get') || !findProgram('dpkg-deb')) throw new Error('there is no apt-get');
  const state = await mkdtemp(path.join(tmpdir(), 'accord-apt-'));
  try {
    await download(state, packages);
    const archives = path.join(state, 'cache', 'archives');
    for (const file of (await readdir(archives)).filter((name) => name.endsWith('.deb')))
      await execute('dpkg-deb', ['-x', path.join(archives, file), into]);
  } finally {
    await rm(state, { recursive: true, force: true });
  }
  await repointLinks(into, into);
}

async function download(state: string, packages: readonly string[]): Promise<void> {
  const wanted = ['-q', 'install', '-y', '--download-only', '--no-install-recommends', ...packages];
  const run = (settings: readonly string[], words: readonly string[]) =>
    execute('apt-get', [...settings, ...words], { maxBuffer: 1 << 24 });
  await run(await aptSettings(state, ownLists), wanted).catch(async () => {
    // No lists, or outdated ones: lists of our own take a dozen seconds.
    const settings = await aptSettings(state, path.join(state, 'state/lists'));
    await run(settings, ['-q', 'update']);
    await run(settings, wanted);
  });
}

/** apt with folders of its own, so that it neither needs rights nor touches the machine's state. */
async function aptSettings(state: string, lists: string): Promise<string[]> {
  for (const folder of ['state/lists/partial', 'cache/archives/partial'])
    await mkdir(path.join(state, folder), { recursive: true });
  return [
    `Dir::State=${state}/state`,
    `Dir::State::lists=${lists}`,
    `Dir::Cache=${state}/cache`,
    'Dir::State::status=/var/lib/dpkg/status',
    'Debug::NoLocking=1',
    // Else apt as root hands the download to a user who may not write here.
    'APT::Sandbox::User=root',
  ].flatMap((setting) => ['-o', setting]);
}

/** Links to absolute places mean the place in the folder, if there is one. */
async function repointLinks(folder: string, root: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) await repointLinks(file, root);
    if (!entry.isSymbolicLink()) continue;
    const target = await readlink(file);
    const inside = path.join(root, target);
    if (!path.isAbsolute(target) || !(existsSync(inside) || (await isLink(inside)))) continue;
    await rm(file);
    await symlink(path.relative(path.dirname(file), inside), file);
  }
}

async function isLink(file: string): Promise<boolean> {
  return lstat(file).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}
