import type { SealedLine } from '#lib/audit/leaf.ts';
import { EvidenceFault, type ReadObject } from '#lib/evidence/ndjson.ts';
import {
  createLineVerifier,
  type LineVerifierOptions,
  missingReceipt,
  type VerifiedLine,
} from '#lib/evidence/verify-line.ts';

export interface ReceiptFindings {
  /** Signed, with the digest that the log has. */
  proved: number;
  /** Named as erased, with the digest that the log has; their text is gone. */
  erased: number;
  /** Signed or erased, and the retention of the log has blanked their line. */
  unlogged: number;
  /** Taken over from another system: with a receipt that is verified, and all. */
  imported: { verified: number; all: number };
  /** Without answers that took effect. */
  open: number;
  /** In the log, and not looked for, because the folder is one without receipts. */
  notGiven: number;
}

/** Transactions of a folder, read side by side with the lines that name their receipts. */
export interface ReceiptReader {
  /** What each line of an area is given to. */
  ofLine(area: string): (line: SealedLine, place: string) => Promise<void> | undefined;
  /**
   * Reads the transactions without a line of the log.
   * @param blanked lines of the log of consents of which only the hash is left: as many receipts may be
   * without one.
   * @throws EvidenceFault if there are more.
   */
  finish(blanked: number): Promise<ReceiptFindings>;
  close(): Promise<void>;
}

export const recordsName = 'records.ndjson';

/**
 * Transactions with a receipt are in the order of their lines in the log of consents: a line without its
 * receipt and a receipt without its line are faults. The others follow.
 */
export function openReceipts(
  objects: AsyncGenerator<ReadObject>,
  { withoutReceipts, ...options }: LineVerifierOptions & { withoutReceipts: boolean },
): ReceiptReader {
  const verifyLine = createLineVerifier(options);
  const found: ReceiptFindings = {
    proved: 0,
    erased: 0,
    unlogged: 0,
    imported: { verified: 0, all: 0 },
    open: 0,
    notGiven: 0,
  };

  async function find({ target, digest }: SealedLine, place: string): Promise<void> {
    const transaction = target.slice('transaction/'.length);
    const { value: read, done } = await objects.next();
    if (done || read.value.transaction !== transaction) {
      if (!done) verifyLine(read);
      throw new EvidenceFault(
        `${place}: ${recordsName} lacks the receipt of the transaction ${transaction}${done ? '' : ` at its line (${read.place})`}.`,
      );
    }
    const line = verifyLine(read);
    if (line.receipt === undefined) throw missingReceipt(read);
    if (line.receipt.digest !== digest)
      throw new EvidenceFault(`${place}: the receipt of ${transaction} is not the one that was logged.`);
    found[line.receipt.state] += 1;
  }

  function count(read: ReadObject, { receipt, imported }: VerifiedLine, blanked: number): void {
    if (receipt) {
      found.unlogged += 1;
      if (found.unlogged > blanked)
        throw new EvidenceFault(`${read.place}: no line of the log of consents tells of this receipt.`);
    } else if (imported) {
      found.imported.all += 1;
      if (imported.isVerified) found.imported.verified += 1;
    } else found.open += 1;
  }

  return {
    ofLine: (area) => (line, place) => {
      if (area !== 'consents' || line.action !== 'receipt.signed') return undefined;
      if (!withoutReceipts) return find(line, place);
      found.notGiven += 1;
      return undefined;
    },
    async finish(blanked) {
      if (withoutReceipts) return found;
      const inOrder = createOrder();
      for await (const read of objects) {
        const line = verifyLine(read);
        inOrder(read, line);
        count(read, line, blanked);
      }
      return found;
    },
    async close() {
      await objects.return(undefined);
    },
  };
}

/** Transactions without a line are there once, oldest first. */
function createOrder(): (read: ReadObject, line: VerifiedLine) => void {
  let last = '';
  const together = new Set<string>();
  return ({ place }, { created, transaction }) => {
    if (created > last) together.clear();
    if (created < last || together.has(transaction))
      throw new EvidenceFault(`${place}: the transactions are not in the order of their creation.`);
    last = created;
    together.add(transaction);
  };
}
