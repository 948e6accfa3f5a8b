import { parseObject, readCompactJws } from '#lib/jose/jws.ts';
import { leaveOut, type NotCarried } from '#lib/moving/not-carried.ts';

/** What a receipt of an instance states, as far as rows take it. */
export interface ReceiptFacts {
  subject: string;
  object?: string;
  author?: string;
  timestamp: string;
  expirationTimestamp?: string;
  information: { identifier: string };
  consents: {
    identifier: string;
    answer: string[];
    expirationTimestamp?: string;
    withdrawn?: string;
  }[];
  peers?: unknown[];
}

/** The body of a receipt; the signature is not verified. */
export function readReceiptFacts(jws: string): ReceiptFacts | undefined {
  const [, payload = ''] = readCompactJws(jws)?.parts ?? [];
  return parseObject(Buffer.from(payload, 'base64url')) as ReceiptFacts | undefined;
}

/** A row of what a receipt states, with the key of its element. */
export interface ReceiptRow {
  element: string;
  row: Readonly<Record<string, unknown>>;
}

/**
 * Rows of the answers on a receipt, with the receipt as evidence.
 * @param source the instance of the receipt.
 */
export function rowsOfReceipt(
  receipt: ReceiptFacts,
  { jws, transaction, source }: { jws: string; transaction: string; source: string },
  notCarried: NotCarried,
): ReceiptRow[] {
  const { subject, object, author, timestamp, expirationTimestamp, information, consents } = receipt;
  if (receipt.peers?.length) leaveOut(notCarried, 'parts that peers keep');
  const [, , infoKey, informationSerial] = information.identifier.split('/');
  return consents.flatMap(({ identifier, answer, withdrawn, ...consent }) => {
    // It was committed after a withdrawal, and never in force.
    if (withdrawn !== undefined) {
      leaveOut(notCarried, 'consents that were withdrawn before they took effect');
      return [];
    }
    const [, type, element = '', serial] = identifier.split('/');
    const expires =
      type === 'conditions' ? null : (consent.expirationTimestamp ?? expirationTimestamp ?? null);
    const answered = { subject, element, serial, answer, given: timestamp, expires, author };
    const row = {
      ...answered,
      informationSerial,
      ...(object !== undefined && { object }),
      information: infoKey,
      source,
      sourceId: `${transaction}/${element}`,
      evidence: { kind: 'RECEIPT', value: jws },
    };
    return [{ element, row }];
  });
}
