import { createHash } from 'node:crypto';
import path from 'node:path';
import type { SealedLine } from '#lib/audit/leaf.ts';
import {
  EvidenceFault,
  type ReadObject,
  readObjects,
  requireCanonical,
  requireMembers,
} from '#lib/evidence/ndjson.ts';
import type { VerifyJws } from '#lib/evidence/verify-jws.ts';

export interface ReceiptFindings {
  /** Signed, with the digest that the log has. */
  proved: number;
  /** Named as erased, with the digest that the log has; their text is gone. */
  erased: number;
  /** In the log, and not looked for, because the folder is one without receipts. */
  notGiven: number;
}

/** Receipts of a folder, read side by side with the lines that name them. */
export interface ReceiptReader {
  /** What each line of an area is given to. */
  ofLine(area: string): (line: SealedLine, place: string) => Promise<void> | undefined;
  /** @throws EvidenceFault if there is a receipt without its line. */
  finish(): Promise<ReceiptFindings>;
  close(): Promise<void>;
}

const fileName = 'records.ndjson';

/**
 * Receipts are in the order of their lines in the log of consents: a line without its receipt and a receipt
 * without its line are faults.
 */
export function openReceipts(
  folder: string,
  { verify, withoutReceipts }: { verify: VerifyJws; withoutReceipts: boolean },
): ReceiptReader {
  const receipts = readObjects(path.join(folder, fileName));
  const found: ReceiptFindings = { proved: 0, erased: 0, notGiven: 0 };

  async function find({ target, digest }: SealedLine, place: string): Promise<void> {
    const transaction = target.slice('transaction/'.length);
    const { value: read, done } = await receipts.next();
    if (done || read.value.transaction !== transaction) {
      if (!done) readReceipt(read, verify);
      throw new EvidenceFault(
        `${place}: ${fileName} lacks the receipt of the transaction ${transaction}${done ? '' : ` at its line (${read.place})`}.`,
      );
    }
    const receipt = readReceipt(read, verify);
    if (receipt.digest !== digest)
      throw new EvidenceFault(`${place}: the receipt of ${transaction} is not the one that was logged.`);
    requireCanonical(read);
    found[receipt.state] += 1;
  }

  return {
    ofLine: (area) => (line, place) => {
      if (area !== 'consents' || line.action !== 'receipt.signed') return undefined;
      if (!withoutReceipts) return find(line, place);
      found.notGiven += 1;
      return undefined;
    },
    async finish() {
      if (withoutReceipts) return found;
      const { value: read } = await receipts.next();
      if (read)
        throw new EvidenceFault(`${read.place}: no line of the log of consents tells of this receipt.`);
      return found;
    },
    async close() {
      await receipts.return(undefined);
    },
  };
}

/** A receipt with the SHA-256 of its JWS in hexadecimal. @throws EvidenceFault for a missing one. */
function readReceipt(read: ReadObject, verify: VerifyJws): { state: 'proved' | 'erased'; digest: string } {
  const { value, place } = read;
  const transaction = String(value.transaction);
  if (value.missing === true)
    throw new EvidenceFault(
      `${place}: the receipt of the transaction ${transaction} is missing: the instance had neither the receipt nor the digest of an erased one.`,
    );
  if (value.erased !== undefined) {
    const digest = erasedDigest(value.erased, place);
    requireMembers(read, ['transaction', 'erased']);
    return { state: 'erased', digest };
  }
  const receipt = verify(value.jws, { type: 'accord-consent-receipt+jws', place });
  if (receipt.transaction !== transaction)
    throw new EvidenceFault(`${place}: the receipt is of another transaction.`);
  requireMembers(read, ['transaction', 'jws']);
  return { state: 'proved', digest: createHash('sha256').update(String(value.jws)).digest('hex') };
}

/** @returns the digest that `GET /receipts/{txid}` states for an erased receipt, in hexadecimal. */
function erasedDigest(erased: unknown, place: string): string {
  const { sha256, ...more } = (erased ?? {}) as { sha256?: unknown };
  const digest = Buffer.from(String(sha256), 'base64url');
  if (digest.length !== 32 || digest.toString('base64url') !== sha256)
    throw new EvidenceFault(`${place}: the erased receipt has no SHA-256, so nothing shows its erasure.`);
  if (Object.keys(more).length > 0)
    throw new EvidenceFault(`${place}: the erased receipt has members that nothing proves.`);
  return digest.toString('hex');
}
