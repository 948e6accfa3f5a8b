import type { ActiveVersions } from '#lib/contracts/forms.ts';

export const recordStates = ['PENDING', 'COMMITTED', 'ROLLED_BACK'] as const;
export const recordStatuses = ['VALID', 'OBSOLETE', 'EXPIRED', 'IRRELEVANT'] as const;

/** A record as far as its status depends on it. */
export interface StatusFacts {
  state: (typeof recordStates)[number];
  key: string;
  serial: string;
  infoKey: string;
  infoSerial: string;
  expiresAt: Date | null;
  /** True if no committed record of the same subject, object and key is newer. */
  newest: boolean;
}

export type RecordStatus = (typeof recordStatuses)[number];
export type StatusExplanation =
  | 'LATEST_VALID' | 'OBSOLETE' | 'EXPIRED' | 'STILL_PENDING' | 'ENTRY_DELETED' | 'ROLLED_BACK'
  | 'INFO_SERIAL_ARCHIVED' | 'BODY_SERIAL_ARCHIVED'; // biome-ignore format: one glance

/** A record's status now: the first rule that hits (docs/interface.md, "Records"). MINOR keeps earlier answers valid, MAJOR asks again. */
export function recordStatus(
  record: StatusFacts,
  active: ActiveVersions,
  now: Date,
): [RecordStatus, StatusExplanation] {
  if (record.state === 'PENDING') return ['IRRELEVANT', 'STILL_PENDING'];
  if (active[record.key]?.deleted) return ['IRRELEVANT', 'ENTRY_DELETED'];
  if (record.state === 'ROLLED_BACK') return ['IRRELEVANT', 'ROLLED_BACK'];
  if (record.expiresAt && record.expiresAt <= now) return ['EXPIRED', 'EXPIRED'];
  if (active[record.infoKey]?.major !== major(record.infoSerial))
    return ['IRRELEVANT', 'INFO_SERIAL_ARCHIVED'];
  if (active[record.key]?.major !== major(record.serial)) return ['IRRELEVANT', 'BODY_SERIAL_ARCHIVED'];
  return record.newest ? ['VALID', 'LATEST_VALID'] : ['OBSOLETE', 'OBSOLETE'];
}

/** The MAJOR of a serial `<major>.<minor>`. */
function major(serial: string): number {
  return Number.parseInt(serial, 10);
}
