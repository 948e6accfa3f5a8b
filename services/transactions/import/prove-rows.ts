import { setImmediate as nextTurn } from 'node:timers/promises';
import type { VerifyJws } from '#lib/evidence/verify-jws.ts';
import { sha256Canonical } from '../transaction/values.ts';
import type { CheckedRow } from './decide-rows.ts';
import { receiptFault } from './receipt-evidence.ts';
import type { RowFaults } from './row.ts';

/** Rows whose answers and receipts are checked before other requests have their turn. */
const rowsPerTurn = 50;

/** Checks the receipts among the evidence. @returns also the digest of each row, by its place. */
export async function proveRows(
  rows: readonly CheckedRow[],
  verify: VerifyJws,
  errors: RowFaults,
): Promise<{ proven: CheckedRow[]; digests: Map<number, Buffer> }> {
  const proven: CheckedRow[] = [];
  const digests = new Map<number, Buffer>();
  for (const [index, row] of rows.entries()) {
    if (index % rowsPerTurn === rowsPerTurn - 1) await nextTurn();
    const isReceipt = row.evidence?.kind === 'RECEIPT';
    const fault = isReceipt ? receiptFault(row, row.identifier, verify) : undefined;
    if (fault) errors.push({ row: row.row, ...fault });
    else {
      proven.push({ ...row, isVerified: isReceipt });
      digests.set(row.row, digestOf(row));
    }
  }
  return { proven, digests };
}

/** What makes two rows the same. */
function digestOf(row: CheckedRow): Buffer {
  const { subject, object, key, serial, answer, givenAt, expiresAt, author, comment, evidence } = row;
  const { infoKey, infoSerial } = row;
  const [given, expires] = [givenAt.toISOString(), expiresAt?.toISOString() ?? null];
  const said = { subject, object, key, serial, answer, given, expires };
  return sha256Canonical({ ...said, author, comment, evidence, infoKey, infoSerial });
}
