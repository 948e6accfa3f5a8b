import { createHash } from 'node:crypto';
import type { Queries } from '#lib/db/database.ts';
import { readErasedReceipt, readReceipt } from './store.ts';

/** Whether a receipt is one that this instance has issued, byte by byte, also if it was erased since. */
export async function isGenuine(db: Queries, jws: string): Promise<boolean> {
  const transaction = transactionOf(jws);
  if (transaction === undefined) return false;
  const issued = await readReceipt(db, transaction);
  if (issued) return issued.jws === jws;
  const erased = await readErasedReceipt(db, transaction);
  return erased?.digest === createHash('sha256').update(jws).digest('base64url');
}

/** The transaction that a signed receipt says it is of. Nothing else in it is believed. */
function transactionOf(jws: string): string | undefined {
  try {
    const [, payload = ''] = jws.split('.');
    const { transaction } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<
      string,
      unknown
    >;
    return typeof transaction === 'string' && transaction.length <= 64 ? transaction : undefined;
  } catch {
    return undefined;
  }
}
