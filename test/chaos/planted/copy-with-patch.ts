import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const ours = path.join(import.meta.dirname, '..', '..', '..');
const parts = ['lib', 'services', 'package.json', 'openapi.yaml', 'asyncapi.yaml'].filter((part) =>
  existsSync(path.join(ours, part)),
);

/** A copy of what is run, with a bug in it. */
export interface PatchedCopy {
  project: string;
  remove(): Promise<void>;
}

/** @throws Error if a patch does not apply any more: then it has to be written anew. */
export async function checkPatch(patch: string): Promise<void> {
  await applyPatch(patch, ours, ['--check']);
}

/** @throws Error if the patch does not apply any more. */
export async function copyWithPatch(patch: string): Promise<PatchedCopy> {
  const project = await mkdtemp(path.join(tmpdir(), 'accord-planted-'));
  const remove = () => rm(project, { recursive: true, force: true });
  try {
    for (const part of parts) await cp(path.join(ours, part), path.join(project, part), { recursive: true });
    await symlink(path.join(ours, 'node_modules'), path.join(project, 'node_modules'));
    await applyPatch(patch, project);
    return { project, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Outside of any repository git looks at nothing but the folder. */
async function applyPatch(patch: string, folder: string, options: string[] = []): Promise<void> {
  const file = path.join(import.meta.dirname, `${patch}.patch`);
  const env = { ...process.env, GIT_DIR: path.join(folder, 'no-repository') };
  await promisify(execFile)('git', ['apply', '-C1', ...options, file], { cwd: folder, env });
}
