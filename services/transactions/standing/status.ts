import { recordStatus, type StatusFacts } from '#lib/contracts/record-status.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';

/** A committed transaction for which an expiry notice is due. */
export interface DueTransaction {
  id: string;
  /** When the notice was due, in the database's precision. */
  dueAt: string;
  expiresAt: Date;
  /** Without `conditions`, which never expire. */
  records: StatusFacts[];
}

/** The notice to write for a {@link DueTransaction}. */
export interface ExpiryNotice {
  id: string;
  dueAt: string;
  /** When the next notice is due: RFC 3339, or `infinity` for none. */
  nextAt: string;
  /** The event; null if no answer with the latest expiry is in force: newer answers may have replaced it. */
  name: 'expiring' | 'expired' | null;
}

/** When `consent.expiring` is due: `leadMs` before expiry, or a tenth of the validity if that is shorter. */
export function expiringAt({ from, to }: { from: Date; to: Date }, leadMs: number): Date {
  return new Date(to.getTime() - Math.min(leadMs, (to.getTime() - from.getTime()) / 10));
}

/**
 * Composes a notice. Answers that were not VALID any more before their expiry, such as replaced ones, expire
 * without an event.
 */
export function expiryNotice(
  { id, dueAt, expiresAt, records }: DueTransaction,
  active: ActiveVersions,
  now: Date,
): ExpiryNotice {
  const isOver = expiresAt <= now;
  const isInForce = records.some(
    (record) =>
      Number(record.expiresAt) === Number(expiresAt) &&
      recordStatus({ ...record, expiresAt: null }, active, now)[0] === 'VALID',
  );
  return {
    id,
    dueAt,
    nextAt: isOver ? 'infinity' : expiresAt.toISOString(),
    name: isInForce ? (isOver ? 'expired' : 'expiring') : null,
  };
}
