import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import { presentRecord } from '../presenters/present-record.ts';
import { readNow } from '../queries/read-now.ts';
import { type RecordFilter, readRecords } from '../queries/records.ts';

export type PresentedRecord = ReturnType<typeof presentRecord>;

/**
 * A subject's records by key, `"<key>|<subject>|<object>"` for those with an object (docs/interface.md). The active MAJORs are asked
 * from forms at this moment, so that a new MAJOR shows at once.
 * @param states states or statuses to keep; they are looked at last and never change which record is the newest.
 */
export async function listRecords(
  { db, forms }: { db: Queries; forms: FormsOperations },
  filter: RecordFilter,
  states: readonly string[] | undefined,
): Promise<Record<string, PresentedRecord[]>> {
  const records = await readRecords(db, filter);
  const keys = [...new Set(records.flatMap(({ key, infoKey }) => [key, infoKey]))];
  const active = keys.length > 0 ? await forms.activeVersions({ keys }) : {};
  const now = await readNow(db);
  const grouped: Record<string, PresentedRecord[]> = Object.create(null);
  for (const record of records) {
    const presented = presentRecord(record, active, now);
    if (states && !states.includes(presented.state) && !states.includes(presented.status)) continue;
    const name = record.object === '' ? record.key : `${record.key}|${record.subject}|${record.object}`;
    grouped[name] ??= [];
    grouped[name].push(presented);
  }
  return grouped;
}
