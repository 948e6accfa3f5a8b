import { type Dependencies, findModelToChange } from '../commands/model-access.ts';
import { insertNewModel } from '../commands/models.ts';
import { activateVersion, insertNewDraft } from '../commands/versions.ts';
import { readActive } from '../queries/active-entries.ts';
import { readRetiredKeys, updateModel } from '../queries/models.ts';
import { conditions } from './conditions.ts';
import type { DemoModel } from './demo-model.ts';
import { email } from './email.ts';
import { information } from './information.ts';
import { layout } from './layout.ts';
import { preference } from './preference.ts';
import { processing } from './processing.ts';
import { theme } from './theme.ts';

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
