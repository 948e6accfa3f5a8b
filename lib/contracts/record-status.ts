import type { ActiveVersions } from '#lib/contracts/versions.ts';

export const recordStates = ['PENDING', 'COMMITTED', 'ROLLED_BACK', 'ERASED'] as const;
export const recordStatuses = ['VALID', 'OBSOLETE', 'EXPIRED', 'IRRELEVANT'] as const;

/** The members of a record that its status depends on. */
export interface StatusFacts {
  state: (typeof recordStates)[number];
  key: string;
  serial: string;
  infoKey: string;
  infoSerial: string;
  expiresAt: Date | null;
  /** Whether the record is in force (services/transactions/standing/in-force.ts). */
  isInForce: boolean;
  /** Whether the person has cleared the answer ({@link isNoAnswer}). */
  isNoAnswer?: boolean;
}

type RecordStatus = (typeof recordStatuses)[number];
type StatusExplanation =
  | 'LATEST_VALID'
  | 'OBSOLETE'
  | 'EXPIRED'
  | 'STILL_PENDING'
  | 'ENTRY_DELETED'
  | 'ROLLED_BACK'
  | 'ERASED'
  | 'NO_ANSWER'
  | 'INFO_SERIAL_ARCHIVED'
  | 'BODY_SERIAL_ARCHIVED';

/** A record's status at `now`: the first rule that matches (docs/interface.md, "Records"). */
export function recordStatus(
  record: StatusFacts,
  active: ActiveVersions,
  now: Date,
): [RecordStatus, StatusExplanation] {
  if (record.state === 'ERASED') return ['IRRELEVANT', 'ERASED'];
  if (record.state === 'PENDING') return ['IRRELEVANT', 'STILL_PENDING'];
  if (active[record.key]?.deleted) return ['IRRELEVANT', 'ENTRY_DELETED'];
  if (record.state === 'ROLLED_BACK') return ['IRRELEVANT', 'ROLLED_BACK'];
  if (record.isNoAnswer) return ['IRRELEVANT', 'NO_ANSWER'];
  if (record.expiresAt && record.expiresAt <= now) return ['EXPIRED', 'EXPIRED'];
  if (active[record.infoKey]?.major !== major(record.infoSerial))
    return ['IRRELEVANT', 'INFO_SERIAL_ARCHIVED'];
  if (active[record.key]?.major !== major(record.serial)) return ['IRRELEVANT', 'BODY_SERIAL_ARCHIVED'];
  return record.isInForce ? ['VALID', 'LATEST_VALID'] : ['OBSOLETE', 'OBSOLETE'];
}

/** The major of a serial `<major>.<minor>`. */
export function major(serial: string): number {
  return Number.parseInt(serial, 10);
}

/** The record in force of a subject, object and key. */
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
  /** The system from which the answer was taken over. */
  importedFrom?: string | null;
}

/** The same between services; times are RFC 3339. */
export interface EarlierAnswer extends Omit<EarlierRecord, 'committedAt' | 'expiresAt'> {
  committedAt: string;
  expiresAt: string | null;
}

/**
 * The records that need not be asked again at `now`: those that are VALID, and refusals or withdrawals of
 * `notices`. A form that shows such a notice does not give the consent again (docs/withdrawal.md, "The
 * rule"), so asking it would never end, whatever its version.
 * @param notices keys of own elements that are notices and rest on consent today.
 */
export function validRecords(
  earlier: readonly EarlierRecord[],
  { active, notices }: { active: ActiveVersions; notices: ReadonlySet<string> },
  now: Date,
): EarlierRecord[] {
  return earlier.filter(
    (record) =>
      (notices.has(record.key) && isRefusal(record)) ||
      recordStatus({ ...record, state: 'COMMITTED', isInForce: true }, active, now)[0] === 'VALID',
  );
}

/**
 * Whether a record says that a person has cleared the answer to an optional question. No box ticked is an
 * answer: it has positions.
 */
export function isNoAnswer(record: {
  value: readonly string[];
  positions: readonly number[] | null;
}): boolean {
  return record.value.length === 0 && record.positions === null;
}

/** Whether an answer is a refusal, which a notice does not replace. */
export function isRefusal(record: Pick<EarlierRecord, 'type' | 'value'>): boolean {
  return record.type !== 'preference' && record.value[0] === 'refused';
}
