import { recordStatus, type StatusFacts } from '#lib/contracts/record-status.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';

/** A committed transaction for which an expiry notice is due. */
export interface DueTransaction {
  id: string;
  /** When the notice was due, in the database's precision. */
  dueAt: string;
  /** Without `conditions`, which never expire. */
  records: ExpiringRecord[];
}

export interface ExpiringRecord extends StatusFacts {
  committedAt: Date;
  expiresAt: Date;
}

/** The notice to write for a {@link DueTransaction}. */
export interface ExpiryNotice {
  id: string;
  dueAt: string;
  /** When the next notice is due: RFC 3339, or `infinity` for none. */
  nextAt: string;
  /** The events. None if no answer that they are about is in force: newer answers may have replaced it. */
  names: ('expiring' | 'expired')[];
}

/**
 * When `consent.expiring` is due: `leadMs` before expiry, or a tenth of the validity if that is shorter.
 * @returns whole milliseconds.
 */
function expiringAt(
  { committedAt, expiresAt }: Pick<ExpiringRecord, 'committedAt' | 'expiresAt'>,
  leadMs: number,
) {
  const [from, to] = [committedAt.getTime(), expiresAt.getTime()];
  return Math.floor(to - Math.min(leadMs, (to - from) / 10));
}

/**
 * When the first notice of answers is due that are committed together: RFC 3339, or `infinity` if none of
 * them expires.
 */
export function firstNotice(
  { committedAt, expiries }: { committedAt: Date; expiries: readonly (Date | null)[] },
  leadMs: number,
): string {
  return firstOf(
    expiries.flatMap((expiresAt) => (expiresAt ? [expiringAt({ committedAt, expiresAt }, leadMs)] : [])),
  );
}

function firstOf(times: readonly number[]): string {
  return times.length > 0 ? new Date(Math.min(...times)).toISOString() : 'infinity';
}

/**
 * Composes a notice. Answers that were not VALID any more before their expiry, such as replaced ones, expire
 * without an event. Of answers whose expiry was not announced in time, only the expiry is told.
 */
export function expiryNotice(
  due: DueTransaction,
  { active, leadMs, now }: { active: ActiveVersions; leadMs: number; now: Date },
): ExpiryNotice {
  const { id, dueAt, records } = due;
  const from = new Date(dueAt);
  const expired = records.filter(({ expiresAt }) => expiresAt >= from && expiresAt <= now);
  const announced = announcedBy(due, expired, { leadMs, now });
  const isValid = (record: ExpiringRecord) =>
    recordStatus({ ...record, expiresAt: null }, active, now)[0] === 'VALID';
  const later = records.flatMap((record) => [
    record.expiresAt.getTime(),
    ...(announced.includes(record) ? [] : [expiringAt(record, leadMs)]),
  ]);
  return {
    id,
    dueAt,
    nextAt: firstOf(later.filter((time) => time > now.getTime())),
    names: [
      ...(announced.some(isValid) ? (['expiring'] as const) : []),
      ...(expired.some(isValid) ? (['expired'] as const) : []),
    ],
  };
}

/** The records whose expiry a notice announces. */
function announcedBy(
  { dueAt, records }: DueTransaction,
  expired: readonly ExpiringRecord[],
  { leadMs, now }: { leadMs: number; now: Date },
): ExpiringRecord[] {
  const open = records.filter(({ expiresAt }) => expiresAt > now);
  const due = open.filter((record) => {
    const at = expiringAt(record, leadMs);
    return at >= new Date(dueAt).getTime() && at <= now.getTime();
  });
  if (due.length > 0 || expired.length > 0) return due;
  // The notice was planned with another EXPIRY_NOTICE: it is about the answers that expire next.
  const next = Math.min(...open.map(({ expiresAt }) => expiresAt.getTime()));
  return open.filter(({ expiresAt }) => expiresAt.getTime() === next);
}
