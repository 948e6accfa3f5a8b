import type { JWK } from 'jose';
import type { Fault } from '#lib/errors/fail.ts';
import { algorithmOf, evidenceKey } from '#lib/evidence/evidence-keys.ts';
import { EvidenceFault } from '#lib/evidence/ndjson.ts';
import type { EvidenceKey, VerifyJws } from '#lib/evidence/verify-jws.ts';
import type { ImportRow } from './row.ts';

/** The public keys of the first line, which verify the receipts of the rows after it, by `kid`. */
export function readReceiptKeys(keys: readonly JWK[]): ReadonlyMap<string, EvidenceKey> {
  const known = keys.flatMap((key) => evidenceKey(key) ?? []);
  return new Map(known.map((jwk) => [jwk.kid, { jwk, alg: algorithmOf(jwk) }]));
}

interface ReceiptFacts {
  subject?: unknown;
  object?: unknown;
  timestamp?: unknown;
  consents?: { identifier?: unknown; answer?: unknown }[];
}

/**
 * Whether a receipt proves a row: it is signed with one of the keys, and states the same person, object, time
 * and answer to the same version.
 * @param identifier of the version.
 * @returns undefined if it does.
 */
export function receiptFault(row: ImportRow, identifier: string, verify: VerifyJws): Fault | undefined {
  const fault = (code: string, detail: string) => ({ pointer: '/evidence/value', code, detail });
  let receipt: ReceiptFacts;
  try {
    receipt = verify(row.evidence?.value, { type: 'accord-consent-receipt+jws', place: 'receipt' });
  } catch (error) {
    if (!(error instanceof EvidenceFault)) throw error;
    return fault('evidence-invalid', `is no receipt: ${error.message}`);
  }
  const consents = Array.isArray(receipt.consents) ? receipt.consents : [];
  const stated = consents.find((each) => each?.identifier === identifier);
  const differs = [
    [receipt.subject !== row.subject, 'subject'],
    [(receipt.object ?? '') !== row.object, 'object'],
    [Date.parse(String(receipt.timestamp)) !== row.givenAt.getTime(), 'given'],
    [stated === undefined, 'element'],
    [JSON.stringify(stated?.answer) !== JSON.stringify(row.answer), 'answer'],
  ].flatMap(([isOther, name]) => (isOther ? [name] : []));
  if (differs.length === 0) return undefined;
  return fault('evidence-mismatch', `states another ${differs[0]} than the row`);
}
