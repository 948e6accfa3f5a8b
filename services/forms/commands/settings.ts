import { recordAction } from '#lib/audit/record-action.ts';
import {
  planSettings,
  readSetting,
  type SettingFault,
  type SettingName,
  type SettingSources,
  settingNames,
} from '#lib/config/instance-settings.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { fail } from '#lib/errors/fail.ts';
import { addToOutbox } from '#lib/events/outbox.ts';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import {
  type LiveSettings,
  readStoredSettings,
  type StoredSettings,
  storeSettings,
} from '#lib/runtime/live-settings.ts';
import { logoIdOf } from '../domain/content/types.ts';
import { checkPrecondition } from '../domain/model.ts';
import { existingLogos } from '../queries/theme-files.ts';
import type { Dependencies } from './model-access.ts';

/** The members that a client sends; null sets the default. */
export type SettingsInput = { readonly [Name in SettingName]?: string | null | undefined };

interface SettingsDependencies extends Dependencies {
  liveSettings: LiveSettings;
  /** Languages that pages have. */
  languages: readonly string[];
}

/**
 * Changes settings of the instance, and tells the other services. The change is in force here at once.
 * @throws Failure `invalid`, also for a member that the environment pins; `precondition-failed`.
 */
export async function changeSettings(
  { db, source, wake, liveSettings, languages }: SettingsDependencies,
  input: SettingsInput,
  ifMatch?: string,
): Promise<StoredSettings> {
  const changed = await db.withTransaction(async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(hashtext('accord settings'))`);
    const known = await readStoredSettings(tx);
    checkPrecondition(ifMatch, known.version);
    const sources = { ...liveSettings.sources(), stored: known.settings };
    const given = await readInput(tx, input, { sources, languages });
    const { stored: settings, changes } = planSettings(given, sources);
    if (changes.length === 0) return known;
    const next = { version: known.version + 1, settings };
    await storeSettings(tx, next);
    for (const { name, before, after } of changes)
      await recordAction(tx, {
        action: 'setting.updated',
        target: `setting/${name}`,
        outcome: JSON.stringify([before, after]),
      });
    const type = 'io.accord.settings.updated.v1';
    await addToOutbox(tx, 'accord.settings', { type, source, subject: 'instance', data: next });
    return next;
  });
  liveSettings.accept(changed);
  wake();
  return changed;
}

/** Reads the values in their canonical form. @throws Failure `invalid` that names each faulty member. */
async function readInput(
  tx: Queries,
  input: SettingsInput,
  { sources, languages }: { sources: SettingSources; languages: readonly string[] },
): Promise<SettingsInput> {
  const faults: SettingFault[] = [];
  const given: { [Name in SettingName]?: string | null } = {};
  for (const name of settingNames) {
    const text = input[name];
    if (text === undefined) continue;
    const read = text === null ? { value: null } : readSetting(name, text);
    if ('fault' in read) faults.push(read.fault);
    else given[name] = read.value;
  }
  faults.push(...planSettings(given, sources).faults);
  const isPinned = (name: SettingName) => sources.pinned[name] !== undefined;
  if (given.language && !isPinned('language') && !lookupLanguage([given.language], languages))
    faults.push({
      name: 'language',
      code: 'invalid',
      detail: `must be one of ${languages.join(', ')}, or a variant`,
    });
  const logo = given.logo ? logoIdOf(given.logo) : undefined;
  if (logo && !(await existingLogos(tx, [logo])).has(logo))
    faults.push({ name: 'logo', code: 'invalid', detail: 'must be the path of an uploaded logo' });
  if (faults.length > 0)
    throw fail('invalid', 'The settings are not valid.', {
      errors: faults.map(({ name, code, detail }) => ({ pointer: `/${name}`, code, detail })),
    });
  return given;
}
