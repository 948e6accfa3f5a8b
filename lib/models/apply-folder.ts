import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '#lib/errors/fail.ts';
import { placeFaults, storeMappings } from './access-mappings.ts';
import { type ModelsApi, RefusedError, type Schemas } from './models-api.ts';
import type { FolderPlan, FolderStep } from './plan-folder.ts';
import { type FileFault, locate } from './read-folder.ts';

/** A plan as a file keeps it. */
interface KeptPlan {
  digest: string;
  steps: { key: string; digest: string }[];
}

const changing = ({ steps }: FolderPlan) => steps.filter(({ step }) => step.change !== 'UNCHANGED');

/** Writes what a plan would do, so that exactly that can be applied. */
export async function keepPlan(file: string, plan: FolderPlan): Promise<void> {
  const steps = changing(plan).map(({ step: { key, type, change, digest } }) => ({
    key,
    type,
    change,
    digest,
  }));
  await writeFile(file, `${JSON.stringify({ digest: plan.digest, steps }, null, 2)}\n`);
}

/** The rest of a plan by its digest, while it is applied: another run finishes what a stopped one began. */
const restFile = '.accord-plan.json';

/**
 * Applies the steps of a plan that was printed before, each in one transaction, in order.
 * @param given digest of that plan, or its file. @param done is told of each step.
 * @returns the faults of the first step that was refused; those after it are not tried.
 * @throws StartupError if the plan is another one now.
 */
export async function applyFolder(
  api: ModelsApi,
  root: string,
  { plan, given, done }: { plan: FolderPlan; given: string; done: (step: FolderStep) => void },
): Promise<FileFault[]> {
  const rest = path.join(root, restFile);
  if (changing(plan).length === 0) {
    await rm(rest, { force: true });
    return [];
  }
  await requirePlanned(plan, given, rest);
  await keepPlanUnlessKept(rest, plan, given);
  for (const each of changing(plan)) {
    try {
      await applyStep(api, each);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return faultsOf(error, each);
    }
    done(each);
  }
  await rm(rest, { force: true });
  return [];
}

async function applyStep(api: ModelsApi, { step, source, mappings }: FolderStep): Promise<void> {
  if (mappings) return storeMappings(api, mappings.wanted);
  const body = { digest: step.digest, ...(source ? { model: source.model } : { archive: step.key }) };
  await api.post<Schemas['AppliedModel']>('/models/apply', body);
}

async function requirePlanned(plan: FolderPlan, given: string, rest: string): Promise<void> {
  if (plan.digest === given) return;
  const kept = /^[0-9a-f]{64}$/.test(given)
    ? await readPlan(rest).catch(() => undefined)
    : await readPlan(given);
  const isGiven = kept && (kept.digest === given || !/^[0-9a-f]{64}$/.test(given));
  const known = new Set(isGiven ? kept.steps.map(({ key, digest }) => `${key} ${digest}`) : []);
  const other = changing(plan).find(({ step: { key, digest } }) => !known.has(`${key} ${digest}`));
  if (!isGiven || other)
    throw new StartupError(
      `The plan is another one now, ${plan.digest}${other && isGiven ? `: ${other.step.key} has changed` : ''}. Nothing was applied; print the plan again.`,
    );
}

async function keepPlanUnlessKept(rest: string, plan: FolderPlan, given: string): Promise<void> {
  if (plan.digest === given) await keepPlan(rest, plan);
}

async function readPlan(file: string): Promise<KeptPlan> {
  try {
    const { digest, steps } = JSON.parse(await readFile(file, 'utf8')) as KeptPlan;
    if (typeof digest === 'string' && Array.isArray(steps)) return { digest, steps };
  } catch (cause) {
    throw new StartupError(`${file} cannot be read as a plan.`, { cause });
  }
  throw new StartupError(`${file} is not a plan.`);
}

function faultsOf(error: RefusedError, { step, source, mappings }: FolderStep): FileFault[] {
  if (mappings?.source) return placeFaults(mappings.source, error, error.faults);
  const faults = error.faults.flatMap(({ pointer, detail }) =>
    source && pointer.startsWith('/model/')
      ? [{ ...locate(source, pointer.slice('/model'.length)), detail }]
      : [],
  );
  if (faults.length > 0) return faults;
  return [{ file: source?.file ?? '.', member: step.key, detail: error.message }];
}
