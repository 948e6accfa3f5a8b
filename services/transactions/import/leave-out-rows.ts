import type { Queries } from '#lib/db/database.ts';
import type { SubjectDigest } from '../erasure/erasure.ts';
import type { CheckedRow } from './decide-rows.ts';
import type { RowFaults } from './row.ts';
import { readErasedDigests, readTakenOver, sourceName } from './store.ts';

/** The persons of the rows whose data were erased. */
export async function readErased(
  subjectDigest: SubjectDigest,
  tx: Queries,
  rows: readonly CheckedRow[],
): Promise<Set<string>> {
  const subjects = [...new Set(rows.map(({ subject }) => subject))];
  const digests = subjects.map((subject) => subjectDigest.all(subject));
  const erased = await readErasedDigests(tx, digests.flat());
  return new Set(
    subjects.filter((_, place) => digests[place]?.some((each) => erased.has(each.toString('hex')))),
  );
}

export function leaveOutErased(
  rows: CheckedRow[],
  erased: ReadonlySet<string>,
  errors: RowFaults,
): CheckedRow[] {
  return rows.filter(({ row, subject }) => {
    if (!erased.has(subject)) return true;
    errors.push({ row, pointer: '/subject', code: 'erased', detail: 'was erased here' });
    return false;
  });
}

/** Leaves out the rows that were taken over before. */
export async function leaveOutKnown(
  tx: Queries,
  rows: readonly CheckedRow[],
  { digests, errors }: { digests: ReadonlyMap<number, Buffer>; errors: RowFaults },
): Promise<{ fresh: CheckedRow[]; unchanged: number }> {
  const known = await readTakenOver(tx, rows);
  const fresh: CheckedRow[] = [];
  let unchanged = 0;
  for (const row of rows) {
    const digest = digests.get(row.row) as Buffer;
    const before = known.get(sourceName(row));
    if (before?.equals(digest)) unchanged += 1;
    else if (before)
      errors.push({
        row: row.row,
        pointer: '/sourceId',
        code: 'conflict',
        detail: 'was taken over with another content',
      });
    else {
      known.set(sourceName(row), digest);
      fresh.push(row);
    }
  }
  return { fresh, unchanged };
}
