import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import { type Position, writeCursor } from '#lib/http/cursor.ts';
import { presentRecord } from '../presenters/present-record.ts';
import { readNow } from '../queries/read-now.ts';
import { type ExtractedRecord, extractRecords as readExtract } from '../queries/records.ts';
import type { PresentedRecord } from './list-records.ts';

export interface Extracted {
  subjectName: string;
  emailAddress?: string;
  record: PresentedRecord;
}

/** Subjects whose VALID answer to an element carries a value, newest answers first (decisions.md §4 and §15). */
export async function extractRecords(
  { db, forms }: { db: Queries; forms: FormsOperations },
  { key, value, after, limit }: { key: string; value: string; after?: Position; limit: number },
): Promise<{ values: Extracted[]; next?: string }> {
  const values: Extracted[] = [];
  let position = after;
  while (values.length < limit) {
    const batch = await readExtract(db, { key, value, after: position, limit: limit + 1 });
    for (const record of await keepValid({ db, forms }, key, batch)) {
      if (values.length === limit) return { values, next: position && writeCursor(position) };
      values.push(presentExtracted(record));
      position = { createdAt: record.stored.position, id: record.stored.id };
    }
    if (batch.length <= limit) return { values };
    const last = batch.at(-1) as ExtractedRecord;
    if (values.length < limit) position = { createdAt: last.position, id: last.id };
  }
  return { values, next: position && writeCursor(position) };
}

interface Valid {
  stored: ExtractedRecord;
  presented: PresentedRecord;
}

async function keepValid(
  { db, forms }: { db: Queries; forms: FormsOperations },
  key: string,
  batch: ExtractedRecord[],
): Promise<Valid[]> {
  if (batch.length === 0) return [];
  const active = await forms.activeVersions({ keys: [key, ...new Set(batch.map(({ infoKey }) => infoKey))] });
  const now = await readNow(db);
  return batch
    .map((stored) => ({ stored, presented: presentRecord(stored, active, now) }))
    .filter(({ presented }) => presented.status === 'VALID');
}

function presentExtracted({ stored, presented }: Valid): Extracted {
  return { subjectName: stored.subject, emailAddress: stored.emailAddress ?? undefined, record: presented };
}
