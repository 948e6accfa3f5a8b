import type { PreviousAnswer } from '#lib/contracts/form-content.ts';
import type { ActiveVersions, DescribedElement } from '#lib/contracts/forms.ts';
import { recordStatus } from './record-status.ts';

/** The newest committed record of a subject, object and key. */
export interface EarlierRecord {
  key: string;
  type: string;
  serial: string;
  infoKey: string;
  infoSerial: string;
  value: string[];
  positions: number[] | null;
  committedAt: Date;
  expiresAt: Date | null;
}

/** The records among `earlier` that are VALID now. */
export function validRecords(
  earlier: readonly EarlierRecord[],
  active: ActiveVersions,
  now: Date,
): EarlierRecord[] {
  return earlier.filter(
    (record) => recordStatus({ ...record, state: 'COMMITTED', newest: true }, active, now)[0] === 'VALID',
  );
}

/** An earlier answer as the form shows it: options in the words that the form offers now, known by position. */
export function previousAnswer(
  element: DescribedElement,
  valid: readonly EarlierRecord[],
): PreviousAnswer | null {
  const record = valid.find(({ key }) => key === element.entry.key);
  if (!record) return null;
  const { answers } = element;
  const words =
    record.positions && answers
      ? record.positions.flatMap((position) => answers[position] ?? [])
      : record.value;
  return {
    identifier: `element/${record.type}/${record.key}/${record.serial}`,
    answers: words,
    created: record.committedAt.toISOString(),
  };
}
