import { randomInt } from 'node:crypto';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import { Failure } from '#lib/errors/fail.ts';
import { type Dependencies, findModelToChange } from '../commands/model-access.ts';
import { insertNewModel } from '../commands/models.ts';
import { activateVersion, insertNewDraft } from '../commands/versions.ts';
import { readActive } from '../queries/active-entries.ts';
import { readRetiredKeys, updateModel } from '../queries/models.ts';
import { information } from './information.ts';
import { conditions, type DemoModel, email, layout, theme } from './models.ts';
import { preference } from './preference.ts';
import { processing } from './processing.ts';

/** In the order in which they can be made: the layout names the others. */
const models: DemoModel[] = [information, ...processing, ...preference, conditions, theme, email, layout];

/**
 * Makes the demonstration's models that are missing, through the same rules as the API's: one query when all are there. What
 * somebody has changed or deleted since stays as it is.
 */
export async function seedDemo({ db, source, wake }: Dependencies): Promise<void> {
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
 * Makes a transaction of the demonstration. Each visitor of the first page is a subject of their own.
 * @returns the URL of the form; null when somebody has changed the demonstration's models so that there is none.
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
