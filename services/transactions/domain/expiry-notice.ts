import type { ActiveVersions } from '#lib/contracts/forms.ts';
import { recordStatus, type StatusFacts } from './record-status.ts';

/** A committed transaction whose answers expire, when a notice of that is due. */
export interface DueTransaction {
  id: string;
  /** When the notice was due, as the database writes it. */
  dueAt: string;
  expiresAt: Date;
  /** Its records that expire. */
  records: StatusFacts[];
}

/** What is written of a {@link DueTransaction}. */
export interface ExpiryNotice {
  id: string;
  dueAt: string;
  /** When the next notice is due; RFC 3339, or `infinity` if none is to come. */
  nextAt: string;
  /** What is told; null if no answer of the transaction is in force any more. */
  name: 'expiring' | 'expired' | null;
}

/** When `consent.expiring` is due: `leadMs` before the answers expire, or a tenth of their validity before if that is shorter. */
export function expiringAt({ from, to }: { from: Date; to: Date }, leadMs: number): Date {
  return new Date(to.getTime() - Math.min(leadMs, (to.getTime() - from.getTime()) / 10));
}

/** An answer that a later one has replaced, or whose question is not asked any more, is no news when it expires. */
export function expiryNotice(
  { id, dueAt, expiresAt, records }: DueTransaction,
  active: ActiveVersions,
  now: Date,
): ExpiryNotice {
  const isOver = expiresAt <= now;
  const isInForce = records.some(
    (record) => recordStatus({ ...record, expiresAt: null }, active, now)[0] === 'VALID',
  );
  return {
    id,
    dueAt,
    nextAt: isOver ? 'infinity' : expiresAt.toISOString(),
    name: isInForce ? (isOver ? 'expired' : 'expiring') : null,
  };
}
