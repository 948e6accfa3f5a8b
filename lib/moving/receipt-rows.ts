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

/** What a record says of an answer and its receipt does not. */
export interface RecordDetails {
  comment?: string | undefined;
  /** A withdrawal repeats consents of several informations, of which the receipt has one. */
  information: string;
  informationSerial: string;
}

interface Proof {
  jws: string;
  transaction: string;
  /** The instance of the receipt. */
  source: string;
  detailsOf: (element: string) => RecordDetails | undefined;
}

/** Rows of the answers on a receipt, with the receipt as evidence. */
export function rowsOfReceipt(
  receipt: ReceiptFacts,
  { jws, transaction, source, detailsOf }: Proof,
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
      ...detailsOf(element),
      evidence: { kind: 'RECEIPT', value: jws },
    };
    return [{ element, row }];
  });
}
