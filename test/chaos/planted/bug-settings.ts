import path from 'node:path';

/** Preloaded into a process, it plants the bug that PLANTED_BUG names. */
export const plantModule = path.join(import.meta.dirname, 'plant.ts');

/** The environment that plants a bug in a process, by its name in bugs.ts. */
export function bugSettings(bug: string | undefined): Record<string, string> {
  return bug ? { NODE_OPTIONS: `--import ${plantModule}`, PLANTED_BUG: bug } : {};
}
