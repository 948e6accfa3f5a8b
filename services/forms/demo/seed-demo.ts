import { randomInt } from 'node:crypto';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import { Failure } from '#lib/errors/fail.ts';
import { type Dependencies, findModelToChange } from '../commands/model-access.ts';
import { insertNewModel } from '../commands/models.ts';
import { activateVersion, insertNewDraft } from '../commands/versions.ts';
import { readActive } from '../queries/active-entries.ts';
import { readRetiredKeys, updateModel } from '../queries/models.ts';
import { demoModels } from './models.ts';

/**
 * Creates the missing models of the demonstration by the rules of the API; one query if none is missing.
 * Models that users have changed or deleted stay as they are.
 */
export async function seedDemo({ db, source, wake }: Dependencies): Promise<void> {
  const models = demoModels();
  const rows = await readActive(db, { keys: models.map(({ key }) => key), withDefault: true });
  const existing = new Set(rows.map(({ key }) => key));
  if (models.every(({ key }) => existing.has(key))) return;
  const retired = await readRetiredKeys(db);
  const missing = models.filter(({ key }) => !existing.has(key) && !retired.has(key));
  const needsDefault = !rows.some(({ isDefault }) => isDefault);
  await db.withTransaction(async (tx) => {
    for (const { data, default: isDefault, ...input } of missing) {
      const { id } = await insertNewModel(tx, input);
      const entry = await findModelToChange(tx, id);
      const draft = await insertNewDraft(tx, entry, { defaultLanguage: 'en', data }, 'MAJOR');
      await activateVersion(tx, { source }, entry, draft);
      if (isDefault && needsDefault) await updateModel(tx, id, { ...entry, isDefault });
    }
  });
  wake();
}

/**
 * Creates a transaction of the demonstration, with a new subject for each visitor.
 * @returns the URL of the form; null if users have changed the models so that there is no form.
 */
export async function createDemoForm({
  createTransaction,
}: Pick<TransactionsOperations, 'createTransaction'>): Promise<string | null> {
  const context = {
    subject: `visitor-${randomInt(1e9)}`,
    layout: 'layout.001',
    cancellable: true,
    timeout: 'PT1H',
  };
  try {
    return (await createTransaction({ context, author: 'operator' })).url;
  } catch (error) {
    if (error instanceof Failure && error.code !== 'unavailable') return null;
    throw error;
  }
}
