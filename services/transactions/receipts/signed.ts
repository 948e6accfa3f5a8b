import { createHash } from 'node:crypto';
import { readCompactJws } from '#lib/jose/jws.ts';

/** Identifies a signed receipt to readers who may not have it, because it contains a link of the subject. */
export interface ReceiptSignature {
  kid: string;
  /** Of the JWS, in hexadecimal, as the line `receipt.signed` of the audit log has it. */
  sha256: string;
}

/** @param jws of this instance. @returns the text that it signs, and what identifies it. */
export function readSigned(jws: string): { body: string; signature: ReceiptSignature } {
  const read = readCompactJws(jws);
  if (!read) throw new Error('a stored receipt is no JWS');
  return {
    body: Buffer.from(read.parts[1], 'base64url').toString(),
    signature: { kid: String(read.header.kid), sha256: createHash('sha256').update(jws).digest('hex') },
  };
}
