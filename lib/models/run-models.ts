import { mkdir } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { str, url } from 'envalid';
import { readSettings } from '#lib/config/settings.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { applyFolder, keepPlan } from './apply-folder.ts';
import { createModelsApi, type ModelsApi, RefusedError } from './models-api.ts';
import { planFolder } from './plan-folder.ts';
import { printFaults, printPlan } from './print-plan.ts';
import { pullFolder } from './pull-folder.ts';
import { readFolder } from './read-folder.ts';

const usage = `Usage: npm run models -- pull <folder>
       npm run models -- plan <folder> [--prune] [--out <plan file>]
       npm run models -- apply <folder> --plan <digest or plan file> [--prune]`;

/** Where a program writes. */
export interface Output {
  print(text: string): void;
  printError(text: string): void;
}

/**
 * Runs a command of `npm run models` (docs/consent-as-code.md).
 * @returns the exit status: 0 for success or nothing to do, 2 for changes of a plan, 1 for faults.
 */
export async function runModels(
  args: readonly string[],
  env: Record<string, string | undefined>,
  output: Output,
): Promise<number> {
  try {
    const given = readArguments(args);
    const { ACCORD_URL, ACCORD_TOKEN } = readSettings(env, { ACCORD_URL: url(), ACCORD_TOKEN: str() });
    const api = createModelsApi({ url: ACCORD_URL, token: ACCORD_TOKEN });
    return given.command === 'pull'
      ? await pull(api, given.root, output)
      : await planOrApply(api, given, output);
  } catch (error) {
    const isFileMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    if (!(error instanceof StartupError || error instanceof RefusedError || isFileMissing)) throw error;
    output.printError(`${(error as Error).message}\n`);
    return 1;
  }
}

function readArguments(args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { prune: { type: 'boolean' }, out: { type: 'string' }, plan: { type: 'string' } },
      allowPositionals: true,
    });
    const [command, root, ...rest] = positionals;
    const isKnown = command === 'pull' || command === 'plan' || command === 'apply';
    const isPlanGiven = values.plan !== undefined;
    if (!isKnown || root === undefined || rest.length > 0 || (command === 'apply') !== isPlanGiven)
      throw new StartupError(usage);
    return { command, root, prune: values.prune === true, out: values.out, plan: values.plan };
  } catch (cause) {
    throw new StartupError(usage, { cause });
  }
}

async function pull(api: ModelsApi, root: string, { print }: Output): Promise<number> {
  await mkdir(root, { recursive: true });
  const { written, unchanged, missing } = await pullFolder(api, root, await readFolder(root));
  for (const file of written) print(`written ${file}\n`);
  for (const file of missing) print(`not ACTIVE at the instance: ${file}\n`);
  print(`${unchanged} unchanged.\n`);
  return 0;
}

async function planOrApply(
  api: ModelsApi,
  { root, prune, out, plan: planned }: ReturnType<typeof readArguments>,
  { print, printError }: Output,
): Promise<number> {
  const plan = await planFolder(api, await readFolder(root), prune);
  if (plan.faults.length > 0) {
    printError(printFaults(plan.faults));
    return 1;
  }
  const isDone = plan.steps.every(({ step }) => step.change === 'UNCHANGED');
  if (planned === undefined) {
    print(await printPlan(plan));
    if (out !== undefined) await keepPlan(out, plan);
    return isDone ? 0 : 2;
  }
  if (isDone) print('There is nothing to do.\n');
  const faults = await applyFolder(api, root, {
    plan,
    given: planned,
    done: ({ step: { change, type, key } }) => print(`${change.toLowerCase()} ${type} ${key}\n`),
  });
  printError(printFaults(faults));
  return faults.length > 0 ? 1 : 0;
}
