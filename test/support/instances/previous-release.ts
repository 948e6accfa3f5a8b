import { execFile } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const project = path.join(import.meta.dirname, '..', '..', '..');

/** Code that ran before this release. */
export interface PreviousRelease {
  /** A tag, or a commit. */
  name: string;
  /** Its code, with today's packages. */
  folder: string;
}

/**
 * Takes the release before this one out of the history: the last tag `v…` before this commit.
 * @returns a reason if there is none: until something is released, the schema changes without migrations.
 */
export async function takePreviousRelease(folder: string): Promise<PreviousRelease | { missing: string }> {
  const name = await lastTag();
  if (!name) return { missing: 'the history has no tag of a release' };
  await mkdir(folder, { recursive: true });
  const archive = path.join(folder, 'release.tar');
  await git('archive', '--output', archive, name);
  await execute('tar', ['-xf', archive, '-C', folder]);
  await symlink(path.join(project, 'node_modules'), path.join(folder, 'node_modules'));
  return { name, folder };
}

function lastTag(): Promise<string | undefined> {
  // The commit that is tagged itself is no earlier release, so the search starts at its parent.
  return git('describe', '--tags', '--abbrev=0', '--match', 'v[0-9]*', 'HEAD^');
}

/** @returns what it prints; undefined if git is not there or knows nothing of it. */
async function git(...args: string[]): Promise<string | undefined> {
  try {
    const { stdout } = await execute('git', ['-c', 'safe.directory=*', ...args], { cwd: project });
    return stdout.trim();
  } catch {
    return undefined;
  }
}
