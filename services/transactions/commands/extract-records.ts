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
  // Small pages too are looked for in large steps: after a MAJOR most answers do not count.
  const step = Math.max(limit + 1, 200);
  const found: Valid[] = [];
  for (let from = after; ; ) {
    const batch = await readExtract(db, { key, value, after: from, limit: step });
    found.push(...(await keepValid({ db, forms }, key, batch)));
    const last = batch.at(-1);
    // One more than the page tells that there is a next one.
    if (!last || batch.length < step || found.length > limit) break;
    from = positionOf(last);
  }
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const next = found.length > limit && last ? writeCursor(positionOf(last.stored)) : undefined;
  return { values: page.map(presentExtracted), next };
}

function positionOf({ position, id }: ExtractedRecord): Position {
  return { createdAt: position, id };
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
