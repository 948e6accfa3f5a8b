import { recordStatus } from '#lib/contracts/record-status.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';

/** Newest committed records that have not expired, and have the same facts. */
export interface AnswerGroup {
  key: string;
  type: string;
  serial: string;
  infoKey: string;
  infoSerial: string;
  /** `accepted` or `refused`; null for preferences, and for notices, which offer no choice. */
  answer: string | null;
  /** Whether the records expire within the period. */
  expiring: boolean;
  count: number;
}

/** The valid answers to one element (openapi.yaml, `ValidAnswers`). */
export interface ValidCount {
  key: string;
  type: string;
  /** Pairs of subject and object. */
  subjects: number;
  /** Absent for preferences. */
  accepted?: number;
  refused?: number;
  expiring: number;
}

/** Adds up the groups whose records are VALID at `now`, by key. Keys without a valid answer are absent. */
export function addUpValid(groups: readonly AnswerGroup[], active: ActiveVersions, now: Date): ValidCount[] {
  const byKey = new Map<string, ValidCount>();
  for (const { answer, expiring, count, ...facts } of groups) {
    const record = { ...facts, state: 'COMMITTED' as const, expiresAt: null, isInForce: true };
    if (recordStatus(record, active, now)[0] !== 'VALID') continue;
    const { key, type } = facts;
    const decisions = type === 'preference' ? {} : { accepted: 0, refused: 0 };
    const total: ValidCount = byKey.get(key) ?? { key, type, subjects: 0, ...decisions, expiring: 0 };
    byKey.set(key, total);
    total.subjects += count;
    if (expiring) total.expiring += count;
    if (answer === 'accepted') total.accepted = (total.accepted ?? 0) + count;
    if (answer === 'refused') total.refused = (total.refused ?? 0) + count;
  }
  return [...byKey.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
}
