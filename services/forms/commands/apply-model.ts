import { recordAction } from '#lib/audit/record-action.ts';
import type { Queries } from '#lib/db/database.ts';
import { fail, prefixPointers } from '#lib/errors/fail.ts';
import type { StepChange } from '#lib/models/plan-steps.ts';
import type { Entry } from '../domain/model.ts';
import { type PlannedStep, planArchive, type StandingModel, type WantedModel } from '../domain/plan-model.ts';
import { lockDefault } from '../queries/models.ts';
import { lockStanding } from '../queries/planned-models.ts';
import { archiveActive, deactivateModel, updateKind } from '../queries/versions.ts';
import { announce, type Dependencies, findModel, findModelToChange } from './model-access.ts';
import { changeFields, insertNewModel } from './models.ts';
import { compareModel, type GivenModel } from './read-wanted.ts';
import { activateVersion, insertNewDraft } from './versions.ts';
import { storeNewLogos } from './wanted-logos.ts';

/** A step of a plan: either a model, or the key of a model to archive. */
export interface GivenStep {
  digest: string;
  model?: GivenModel;
  archive?: string;
}

/**
 * Does what a plan said of one model, in one transaction.
 * @throws Failure `wrong-state` if the step would do something else than planned; those of an activation.
 */
export async function applyStep(
  { db, source, wake }: Dependencies,
  { digest, model, archive }: GivenStep,
): Promise<{ change: StepChange; entry: Entry }> {
  if ((model === undefined) === (archive === undefined || archive === ''))
    throw fail('invalid', 'The step is not valid.', {
      errors: [{ pointer: '/model', code: 'invalid', detail: 'must be there, or archive instead' }],
    });
  const applied = await db.withTransaction((tx) =>
    model ? applyModel(tx, { source, digest }, model) : applyArchive(tx, { source, digest }, archive ?? ''),
  );
  wake();
  return applied;
}

interface Step {
  source: string;
  digest: string;
}

async function applyModel(tx: Queries, { source, digest }: Step, given: GivenModel) {
  if (given.default === true) await lockDefault(tx);
  const standing = await lockStanding(tx, given.key);
  const { wanted, step, logos } = await prefixPointers('/model', async () => {
    const { compared, faults, logos: images } = await compareModel(tx, given, standing);
    if (!compared || faults.length > 0) throw fail('invalid', 'The model is not valid.', { errors: faults });
    requirePlanned(compared.step, digest);
    return { ...compared, logos: images };
  });
  const id = await prefixPointers('/model', async () => {
    const made = standing?.entry.id ?? (await createEntry(tx, wanted)).id;
    await storeNewLogos(tx, logos, made);
    await applyVersion(tx, source, { id: made, wanted, step });
    return made;
  });
  if (standing || wanted.default) await applyFields(tx, source, { id, wanted, standing });
  return { change: step.change, entry: await findModel(tx, id) };
}

/** @throws Failure `wrong-state` if the step is not the planned one, or has become impossible. */
function requirePlanned({ digest, faults }: PlannedStep, planned: string): void {
  if (digest === planned && faults.length === 0) return;
  const reason = faults[0]?.detail ?? 'The model has changed since the plan was made; plan again.';
  throw fail('wrong-state', reason, { errors: faults });
}

async function createEntry(tx: Queries, wanted: WantedModel): Promise<Entry> {
  const entry = await insertNewModel(tx, wanted);
  await recordAction(tx, { action: 'model.created', target: `model/${entry.id}` });
  return entry;
}

async function applyVersion(
  tx: Queries,
  source: string,
  { id, wanted, step: { version } }: { id: string; wanted: WantedModel; step: PlannedStep },
): Promise<void> {
  if (!version) return;
  const { type: kind, reason = null } = version;
  const entry = await findModelToChange(tx, id);
  const draft = await insertNewDraft(tx, entry, wanted, kind);
  if (reason !== null) await updateKind(tx, draft.id, { kind, reason });
  await activateVersion(tx, { source }, entry, draft);
  for (const action of ['version.created', 'version.activated'] as const)
    await recordAction(tx, { action, target: `model/${id}` });
}

async function applyFields(
  tx: Queries,
  source: string,
  { id, wanted, standing }: { id: string; wanted: WantedModel; standing: StandingModel | undefined },
): Promise<void> {
  const { name, description, shared, sharedWith } = wanted;
  const { entry } = standing ?? {};
  const isSame =
    entry &&
    JSON.stringify([name, description, shared, sharedWith]) ===
      JSON.stringify([entry.name, entry.description, entry.shared, entry.sharedWith]);
  if (isSame && (!wanted.default || entry.isDefault)) return;
  const change = { name, description, shared, sharedWith, ...(wanted.default && { default: true }) };
  await changeFields(tx, source, await findModelToChange(tx, id), change);
}

async function applyArchive(tx: Queries, { source, digest }: Step, key: string) {
  const standing = await lockStanding(tx, key);
  if (standing?.entry.status !== 'ACTIVE') throw fail('wrong-state', `${key} is not ACTIVE; plan again.`);
  const { faults, ...step } = planArchive(standing);
  requirePlanned({ ...step, faults: faults.map((fault) => ({ ...fault, pointer: '/archive' })) }, digest);
  await archiveActive(tx, standing.entry.id);
  const entry = await deactivateModel(tx, standing.entry.id);
  await recordAction(tx, { action: 'version.archived', target: `model/${entry.id}` });
  await announce(tx, { source, name: 'archived', entry });
  return { change: 'ARCHIVED' as const, entry };
}
